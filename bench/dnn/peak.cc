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

// Pairs of bf16 into f32.
__attribute__((target("avx512f,avx512bf16"))) float run_avx512_bf16() {
  __m512 sums[kChains];
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.5F));
  for (int c = 0; c < kChains; ++c) sums[c] = _mm512_set1_ps(static_cast<float>(c));
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbf16_ps(sums[c], a, a);
  }
  for (int c = 1; c < kChains; ++c) sums[0] = _mm512_add_ps(sums[0], sums[c]);
  return _mm512_cvtss_f32(sums[0]);
}

// Fours of u8 by i8 into i32.
__attribute__((target("avx512f,avx512vnni"))) float run_avx512_vnni() {
  __m512i sums[kChains];
  const __m512i a = _mm512_set1_epi8(1);
  for (int c = 0; c < kChains; ++c) sums[c] = _mm512_set1_epi32(c);
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbusd_epi32(sums[c], a, a);
  }
  for (int c = 1; c < kChains; ++c) sums[0] = _mm512_add_epi32(sums[0], sums[c]);
  return _mm512_cvtss_f32(_mm512_castsi512_ps(sums[0]));
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
  int multiply_adds;  // of one instruction
};

Loop loop_of(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return {run_avx512, 16};
  if (level == CpuLevel::avx2) return {run_avx2, 8};
#endif
  return {run_baseline, 4};
}

double flops_per_second(const Loop& loop) {
  volatile float kept = 0;
  double least = 1;
  for (int i = 0; i < 200; ++i) least = std::min(least, timed([&] { kept = loop.run(); }));
  return 2.0 * kSteps * kChains * loop.multiply_adds / least;
}

}  // namespace

double Peaks::of(const dnn::ElementTypes& types) const {
  return types.are_integers() ? int8 : types.in == DType::bf16 ? bf16 : f32;
}

Peaks measure_peaks() {
  const double f32 = flops_per_second(loop_of(cpu_level()));
  Peaks peaks{f32, f32, f32};
#if defined(__x86_64__)
  if (cpu_features().bf16) peaks.bf16 = flops_per_second({run_avx512_bf16, 32});
  if (cpu_features().vnni) peaks.int8 = flops_per_second({run_avx512_vnni, 64});
#endif
  return peaks;
}

}  // namespace trine::bench
