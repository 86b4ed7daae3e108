// CPU features from cpuid, caches and limits from what Linux says in /sys and /proc.
#include "trine/base/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr std::string_view kLevelNames[] = {"baseline", "avx2", "avx512"};

// The first `size` bytes of a small system file; empty when there is none.
std::string read_system_file(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (!file) return {};
  char text[256];
  size_t n = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return std::string(text, n);
}

#if defined(__x86_64__)
// No flag of cpuid says so: Intel's server cores from Skylake on, AMD's from Zen 5 on (in laptops it has half of it).
bool has_wide_fma(const CpuInfo& info) {
  unsigned a, b, c, d;
  if (info.level != CpuLevel::avx512 || !__get_cpuid(1, &a, &b, &c, &d)) return false;
  const unsigned base = a >> 8 & 15, family = base == 15 ? base + (a >> 20 & 255) : base;
  const unsigned model = (a >> 4 & 15) | (a >> 12 & 0xf0);
  constexpr unsigned kZen5 = 26, kZen5Laptops = 0x20, kZen5Desktops = 0x40;
  if (info.vendor == "AuthenticAMD") return family >= kZen5 && !(model >= kZen5Laptops && model < kZen5Desktops);
  constexpr unsigned kServers[] = {0x55, 0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae};
  return info.vendor == "GenuineIntel" && family == 6 && std::ranges::count(kServers, model) > 0;
}

void read_cpuid(CpuInfo& info) {
  unsigned a, b, c, d;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    char vendor[13] = {};
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    info.vendor = vendor;
  }
  char model[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    if (!__get_cpuid(0x80000002 + i, &a, &b, &c, &d)) break;
    unsigned words[4] = {a, b, c, d};
    std::memcpy(model + 16 * i, words, 16);
  }
  info.model = model;
  while (!info.model.empty() && info.model.back() == ' ') info.model.pop_back();

  // These builtins also ask the operating system whether it saves the wide registers.
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
              (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C));
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  info.level = avx512 ? CpuLevel::avx512 : avx2 ? CpuLevel::avx2 : CpuLevel::baseline;
  info.features.vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  info.features.bf16 = avx512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5));
  info.wide_fma = has_wide_fma(info);
}
#else
void read_cpuid(CpuInfo&) {}
#endif

size_t cache_bytes(int level, size_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    std::string base = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string found = read_system_file((base + "level").c_str());
    if (found.empty()) break;
    if (std::atoi(found.c_str()) != level) continue;
    if (read_system_file((base + "type").c_str()).starts_with("Instruction")) continue;
    std::string size = read_system_file((base + "size").c_str());
    long n = std::atol(size.c_str());
    if (n <= 0) continue;
    size_t unit = size.find('M') != std::string::npos ? size_t{1} << 20 : size_t{1} << 10;
    return static_cast<size_t>(n) * unit;
  }
  return otherwise;
}

std::optional<int> cgroup_cpus() {
  if (auto v2 = read_system_file("/sys/fs/cgroup/cpu.max"); !v2.empty()) return cpus_of_quota(v2);
  std::string quota = read_system_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::string period = read_system_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota.empty() || period.empty()) return std::nullopt;
  return cpus_of_quota(quota + " " + period);
}

int usable_cpus() {
  int n = 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  if (n < 1) n = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));  // more CPUs than cpu_set_t holds
  if (auto quota = cgroup_cpus()) n = std::min(n, *quota);
  return std::max(n, 1);
}

CpuInfo read_cpu_info() {
  CpuInfo info;
  read_cpuid(info);
  info.cpus = usable_cpus();
  info.l1_bytes = cache_bytes(1, info.l1_bytes);
  info.l2_bytes = cache_bytes(2, info.l2_bytes);
  info.l3_bytes = cache_bytes(3, info.l3_bytes);
  return info;
}

CpuTarget target_after_environment() {
  const CpuInfo& info = cpu_info();
  const std::string wanted = env_text("TRINE_CPU");
  if (wanted.empty()) return {info.level, info.features};
  auto cap = CpuTarget::from_text(wanted);
  if (!cap) {
    throw Error(ErrorCode::invalid_argument, "TRINE_CPU: got '" + wanted +
                                                 "'; accepted are baseline, avx2, avx512, avx512+vnni, avx512+bf16, "
                                                 "avx512+vnni+bf16");
  }
  return {std::min(info.level, cap->level),
          {info.features.vnni && cap->features.vnni, info.features.bf16 && cap->features.bf16}};
}

const CpuTarget& target() {
  static const CpuTarget target = target_after_environment();
  return target;
}

constexpr uint8_t kNoCap = 255;
std::atomic<uint8_t> test_cap{kNoCap};

}  // namespace

std::string_view name(CpuLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<CpuLevel> cpu_level_from_name(std::string_view text) {
  for (CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512})
    if (name(level) == text) return level;
  return std::nullopt;
}

std::string CpuTarget::text() const {
  const bool extends = level == CpuLevel::avx512;
  return std::string(name(level)) + (extends && features.vnni ? "+vnni" : "") +
         (extends && features.bf16 ? "+bf16" : "");
}

std::optional<CpuTarget> CpuTarget::from_text(std::string_view text) {
  for (CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512})
    for (bool vnni : {false, true})
      for (bool bf16 : {false, true}) {
        CpuTarget target{level, {vnni, bf16}};
        if (target.text() == text) return target;
      }
  return std::nullopt;
}

std::string CpuInfo::fingerprint() const { return model + " " + CpuTarget{level, features}.text(); }

const CpuInfo& cpu_info() {
  static const CpuInfo info = read_cpu_info();
  return info;
}

CpuLevel cpu_level() {
  uint8_t cap = test_cap.load(std::memory_order_relaxed);
  return cap == kNoCap ? target().level : std::min(target().level, static_cast<CpuLevel>(cap));
}

CpuFeatures cpu_features() { return cpu_level() == CpuLevel::avx512 ? target().features : CpuFeatures{}; }

void limit_cpu_level(std::optional<CpuLevel> cap) { test_cap = cap ? static_cast<uint8_t>(*cap) : kNoCap; }

int default_thread_count() { return cpu_info().cpus; }

std::optional<int> cpus_of_quota(std::string_view text) {
  long long quota = 0, period = 0;
  if (std::sscanf(std::string(text).c_str(), "%lld %lld", &quota, &period) != 2) return std::nullopt;  // "max 100000"
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(std::clamp<long long>((quota + period - 1) / period, 1, 1 << 20));
}

}  // namespace trine
