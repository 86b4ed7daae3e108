// What this processor can do. Kernels are compiled for three levels and chosen at run time:
//   baseline  what every x86-64 (SSE2) or other CPU has
//   avx2      AVX2 + FMA + F16C + BMI2
//   avx512    avx2 + AVX-512 F, BW, VL, DQ
// TRINE_CPU=baseline|avx2|avx512 lowers the level that is used (never raises it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trine {

enum class CpuLevel : uint8_t { baseline, avx2, avx512 };
std::string_view name(CpuLevel level);
std::optional<CpuLevel> cpu_level_from_name(std::string_view name);

struct CpuInfo {
  std::string vendor;                   // "AuthenticAMD"
  std::string model;                    // "AMD EPYC 9B14"
  CpuLevel level = CpuLevel::baseline;  // of the hardware, not capped
  bool vnni = false;                    // AVX-512 VNNI
  bool bf16 = false;                    // AVX-512 BF16
  int cpus = 1;                         // this process may run on: affinity mask and cgroup quota
  size_t l1_bytes = 32 << 10;           // data cache of one core
  size_t l2_bytes = 512 << 10;          // of one core
  size_t l3_bytes = 8 << 20;            // shared

  // Model and level: what a timing or a packed weight depends on.
  std::string fingerprint() const;
};

const CpuInfo& cpu_info();

// The level to use: the hardware's, capped by TRINE_CPU (read once) and by limit_cpu_level.
CpuLevel cpu_level();
// Caps the level from now on; for tests that run every kernel. nullopt lifts it.
void limit_cpu_level(std::optional<CpuLevel> cap);

// Threads that a Session uses when not told: cpu_info().cpus.
int default_thread_count();

// CPUs that a cgroup quota allows, rounded up; text is the content of cpu.max ("200000 100000") or "quota period" of
// cgroup v1. nullopt: no limit.
std::optional<int> cpus_of_quota(std::string_view text);

}  // namespace trine
