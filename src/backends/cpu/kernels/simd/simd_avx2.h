// Vectors of 8 floats in AVX registers, with FMA. See simd_baseline.h for what each function means.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace trine::cpu {
namespace {

constexpr int kWidth = 8;
using V = __m256;
using Mask = __m256;

[[gnu::always_inline]] inline __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
[[gnu::always_inline]] inline V load(const float* p) { return _mm256_loadu_ps(p); }
[[gnu::always_inline]] inline V load_part(const float* p, int n) { return _mm256_maskload_ps(p, first_lanes(n)); }
[[gnu::always_inline]] inline void store(float* p, V v) { _mm256_storeu_ps(p, v); }
[[gnu::always_inline]] inline void store_part(float* p, V v, int n) { _mm256_maskstore_ps(p, first_lanes(n), v); }
[[gnu::always_inline]] inline V set1(float x) { return _mm256_set1_ps(x); }
[[gnu::always_inline]] inline V zero() { return _mm256_setzero_ps(); }
[[gnu::always_inline]] inline V add(V a, V b) { return _mm256_add_ps(a, b); }
[[gnu::always_inline]] inline V sub(V a, V b) { return _mm256_sub_ps(a, b); }
[[gnu::always_inline]] inline V mul(V a, V b) { return _mm256_mul_ps(a, b); }
[[gnu::always_inline]] inline V div(V a, V b) { return _mm256_div_ps(a, b); }
[[gnu::always_inline]] inline V reciprocal(V a) { return _mm256_div_ps(_mm256_set1_ps(1), a); }
[[gnu::always_inline]] inline V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
// sum += a * b, in place: as an intrinsic GCC renames the sums from step to step and then runs out of registers.
[[gnu::always_inline]] inline void fma_into(V& sum, V a, V b) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
}
[[gnu::always_inline]] inline void fma_broadcast(V& sum, const float* a, V b) { fma_into(sum, _mm256_set1_ps(*a), b); }
[[gnu::always_inline]] inline V fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); }
[[gnu::always_inline]] inline V vmin(V a, V b) { return _mm256_min_ps(a, b); }
[[gnu::always_inline]] inline V vmax(V a, V b) { return _mm256_max_ps(a, b); }
[[gnu::always_inline]] inline Mask less(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
[[gnu::always_inline]] inline Mask equal(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
[[gnu::always_inline]] inline Mask is_nan(V a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
[[gnu::always_inline]] inline V select(Mask m, V a, V b) { return _mm256_blendv_ps(b, a, m); }
[[gnu::always_inline]] inline V max_or_nan(V a, V b) { return select(is_nan(b), b, vmax(b, a)); }
[[gnu::always_inline]] inline V square_root(V a) { return _mm256_sqrt_ps(a); }
[[gnu::always_inline]] inline V exponent(V a) {
  const __m256i field = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(field, _mm256_set1_epi32(127)));
}
[[gnu::always_inline]] inline V round_even(V a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline V scale_by_power(V a, V n) {
  __m256i whole = _mm256_cvtps_epi32(vmin(set1(250), vmax(set1(-250), n)));
  __m256i half = _mm256_srai_epi32(whole, 1);  // in two steps: 2^n alone may be past the exponent's range
  __m256i bias = _mm256_set1_epi32(127);
  V p = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  V q = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23));
  return mul(mul(a, p), q);
}
[[gnu::always_inline]] inline float reduce_add(V a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
[[gnu::always_inline]] inline float reduce_max(V a) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
[[gnu::always_inline]] inline void prefetch_l2(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1);
}

[[gnu::always_inline]] inline void transpose_8x8(const float* s, int64_t lds, float* d, int64_t ldd) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(s + i * lds);
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    r[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    r[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    r[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    r[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(d + i * ldd, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(d + (i + 4) * ldd, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

// d[j * ldd + i] = s[i * lds + j] for a 16 x 16 block.
[[gnu::always_inline]] inline void transpose_block(const float* s, int64_t lds, float* d, int64_t ldd) {
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 16; j += 8) transpose_8x8(s + i * lds + j, lds, d + j * ldd + i, ldd);
}

}  // namespace
}  // namespace trine::cpu
