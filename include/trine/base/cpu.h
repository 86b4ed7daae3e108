// What this processor can do. Kernels are compiled for three levels and chosen at run time:
//   baseline  what every x86-64 (SSE2) or other CPU has
//   avx2      AVX2 + FMA + F16C + BMI2
//   avx512    avx2 + AVX-512 F, BW, VL, DQ
// An avx512 machine may have extensions besides: VNNI (products of 8-bit integers) and BF16 (products of bfloat16).
// TRINE_CPU=baseline|avx2|avx512|avx512+vnni|avx512+bf16|avx512+vnni+bf16 lowers what is used (never raises it).
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

struct CpuFeatures {
  bool vnni = false;  // AVX-512 VNNI
  bool bf16 = false;  // AVX-512 BF16

  bool include(const CpuFeatures& needed) const { return vnni >= needed.vnni && bf16 >= needed.bf16; }
  friend bool operator==(const CpuFeatures&, const CpuFeatures&) = default;
};

// A level with extensions, as TRINE_CPU takes it: "avx512+vnni".
struct CpuTarget {
  CpuLevel level = CpuLevel::baseline;
  CpuFeatures features = {};

  std::string text() const;  // extensions count at avx512 only
  static std::optional<CpuTarget> from_text(std::string_view text);
};

struct CpuInfo {
  std::string vendor;                   // "AuthenticAMD"
  std::string model;                    // "AMD EPYC 9B14"
  CpuLevel level = CpuLevel::baseline;  // of the hardware, not capped
  CpuFeatures features = {};            // of the hardware too
  bool wide_fma = false;                // begins two 512-bit multiply-adds a cycle; else one, or two of 256 bits
  int cpus = 1;                         // this process may run on: affinity mask and cgroup quota
  size_t l1_bytes = 32 << 10;           // data cache of one core
  size_t l2_bytes = 512 << 10;          // of one core
  size_t l3_bytes = 8 << 20;            // shared

  // Model, level and extensions: what a timing or a packed weight depends on.
  std::string fingerprint() const;
};

const CpuInfo& cpu_info();

// The level to use: the hardware's, capped by TRINE_CPU (read once) and by limit_cpu_level.
CpuLevel cpu_level();
// The extensions to use; none below avx512.
CpuFeatures cpu_features();
// Caps the level from now on; for tests that run every kernel. nullopt lifts it.
void limit_cpu_level(std::optional<CpuLevel> cap);

// Threads that a Session uses when not told: cpu_info().cpus.
int default_thread_count();

// CPUs that a cgroup quota allows, rounded up; text is the content of cpu.max ("200000 100000") or "quota period" of
// cgroup v1. nullopt: no limit.
std::optional<int> cpus_of_quota(std::string_view text);

}  // namespace trine
