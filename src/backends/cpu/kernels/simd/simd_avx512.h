// Vectors of 16 floats in AVX-512 registers. See simd_baseline.h for what each function means.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12: false alarms inside its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstdint>

namespace trine::cpu {
namespace {

constexpr int kWidth = 16;
using V = __m512;
using Mask = __mmask16;

[[gnu::always_inline]] inline Mask first_lanes(int n) {
  return static_cast<Mask>(n >= kWidth ? 0xffff : n <= 0 ? 0 : (1u << n) - 1);
}
[[gnu::always_inline]] inline V load(const float* p) { return _mm512_loadu_ps(p); }
[[gnu::always_inline]] inline V load_part(const float* p, int n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
[[gnu::always_inline]] inline void store(float* p, V v) { _mm512_storeu_ps(p, v); }
[[gnu::always_inline]] inline void store_part(float* p, V v, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
[[gnu::always_inline]] inline V set1(float x) { return _mm512_set1_ps(x); }
[[gnu::always_inline]] inline V zero() { return _mm512_setzero_ps(); }
[[gnu::always_inline]] inline V add(V a, V b) { return _mm512_add_ps(a, b); }
[[gnu::always_inline]] inline V sub(V a, V b) { return _mm512_sub_ps(a, b); }
[[gnu::always_inline]] inline V mul(V a, V b) { return _mm512_mul_ps(a, b); }
[[gnu::always_inline]] inline V div(V a, V b) { return _mm512_div_ps(a, b); }
// 1 / a for a in [2^-100, 2^100], 1 ulp: faster than a division on Zen 4, about even on Zen 5.
[[gnu::always_inline]] inline V reciprocal(V a) {
  V y = _mm512_rcp14_ps(a);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(a, y, _mm512_set1_ps(1)), y, y);
}
[[gnu::always_inline]] inline V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
// sum += a * b, in place: as an intrinsic GCC renames the sums from step to step and then runs out of registers.
[[gnu::always_inline]] inline void fma_into(V& sum, V a, V b) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
[[gnu::always_inline]] inline void fma_broadcast(V& sum, const float* a, V b) {
  asm volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(b), "m"(*a));
}
// Of the lower 8 lanes; the upper ones mean nothing then. Half the work where registers of 512 bits are run in halves.
[[gnu::always_inline]] inline void fma_into_half(V& sum, V a, V b) {
  __m256 half = _mm512_castps512_ps256(sum);
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(half) : "v"(_mm512_castps512_ps256(a)), "v"(_mm512_castps512_ps256(b)));
  sum = _mm512_castps256_ps512(half);
}
[[gnu::always_inline]] inline void fma_broadcast_half(V& sum, const float* a, V b) {
  __m256 half = _mm512_castps512_ps256(sum);
  asm volatile("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(half) : "v"(_mm512_castps512_ps256(b)), "m"(*a));
  sum = _mm512_castps256_ps512(half);
}
[[gnu::always_inline]] inline V fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }
[[gnu::always_inline]] inline V vmin(V a, V b) { return _mm512_min_ps(a, b); }
[[gnu::always_inline]] inline V vmax(V a, V b) { return _mm512_max_ps(a, b); }
// The larger one, or whichever is a NaN: of two numbers of which one is, max gives the second.
[[gnu::always_inline]] inline V max_or_nan(V a, V b) {
  return _mm512_mask_max_ps(b, _mm512_cmp_ps_mask(b, b, _CMP_ORD_Q), b, a);
}
[[gnu::always_inline]] inline Mask less(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
[[gnu::always_inline]] inline Mask equal(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
[[gnu::always_inline]] inline Mask is_nan(V a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
[[gnu::always_inline]] inline V select(Mask m, V a, V b) { return _mm512_mask_blend_ps(m, b, a); }
[[gnu::always_inline]] inline V square_root(V a) { return _mm512_sqrt_ps(a); }
[[gnu::always_inline]] inline V exponent(V a) { return _mm512_getexp_ps(a); }
[[gnu::always_inline]] inline V round_even(V a) { return _mm512_roundscale_ps(a, 8); }
[[gnu::always_inline]] inline V scale_by_power(V a, V n) { return _mm512_scalef_ps(a, n); }
[[gnu::always_inline]] inline float reduce_add(V a) { return _mm512_reduce_add_ps(a); }
[[gnu::always_inline]] inline float reduce_max(V a) { return _mm512_reduce_max_ps(a); }
[[gnu::always_inline]] inline void prefetch_l2(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1);
}

// d[j * ldd + i] = s[i * lds + j] for a 16 x 16 block.
[[gnu::always_inline]] inline void transpose_block(const float* s, int64_t lds, float* d, int64_t ldd) {
  __m512 r[16], t[16];
  for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_ps(s + i * lds);
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    __m512d a = _mm512_castps_pd(t[4 * i]), b = _mm512_castps_pd(t[4 * i + 1]);
    __m512d c = _mm512_castps_pd(t[4 * i + 2]), e = _mm512_castps_pd(t[4 * i + 3]);
    r[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    r[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    r[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, e));
    r[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, e));
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    _mm512_storeu_ps(d + i * ldd, _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
    _mm512_storeu_ps(d + (i + 8) * ldd, _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
    _mm512_storeu_ps(d + (i + 4) * ldd, _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88));
    _mm512_storeu_ps(d + (i + 12) * ldd, _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd));
  }
}

}  // namespace
}  // namespace trine::cpu
