#include "peak.h"

#include <algorithm>

#include "rounds.h"
#include "trine/base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trine::bench {
namespace {

constexpr int kChains = 12;  // independent sums: more than latency times throughput, and the registers of AVX2
constexpr int kSteps = 1 << 15;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float run_avx512() {
  __m512 sums[kChains];
  const __m512 a = _mm512_set1_ps(0.999F), b = _mm512_set1_ps(1e-3F);
  for (int c = 0; c < kChains; ++c) sums[c] = _mm512_set1_ps(static_cast<float>(c));
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(sums[c], a, b);
  }
  for (int c = 1; c < kChains; ++c) sums[0] = _mm512_add_ps(sums[0], sums[c]);
  return _mm512_cvtss_f32(sums[0]);
}

__attribute__((target("avx2,fma"))) float run_avx2() {
  __m256 sums[kChains];
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(1e-3F);
  for (int c = 0; c < kChains; ++c) sums[c] = _mm256_set1_ps(static_cast<float>(c));
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(sums[c], a, b);
  }
  for (int c = 1; c < kChains; ++c) sums[0] = _mm256_add_ps(sums[0], sums[c]);
  return _mm256_cvtss_f32(sums[0]);
}
#endif

// Four lanes and separate multiplications and additions.
float run_baseline() {
  typedef float Vector __attribute__((vector_size(16)));
  Vector sums[kChains];
  const Vector a = Vector{} + 0.999F, b = Vector{} + 1e-3F;
  for (int c = 0; c < kChains; ++c) sums[c] = Vector{} + static_cast<float>(c);
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * a + b;
  }
  for (int c = 1; c < kChains; ++c) sums[0] += sums[c];
  return sums[0][0];
}

struct Loop {
  float (*run)();
  int lanes;
};

Loop loop_of(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return {run_avx512, 16};
  if (level == CpuLevel::avx2) return {run_avx2, 8};
#endif
  return {run_baseline, 4};
}

}  // namespace

double peak_flops_per_core() {
  const Loop loop = loop_of(cpu_level());
  volatile float kept = 0;
  double least = 1;
  for (int i = 0; i < 200; ++i) least = std::min(least, timed([&] { kept = loop.run(); }));
  return 2.0 * kSteps * kChains * loop.lanes / least;
}

}  // namespace trine::bench
