// Vectors of 4 floats through compiler vector extensions: SSE2 on x86-64, NEON on ARM. This header defines what the
// functions mean; simd_avx2.h and simd_avx512.h give the same ones. A kernel is written once over them, in a *_kernel.h
// that a *_baseline.cc, *_avx2.cc and *_avx512.cc each include. All of it lives in
// anonymous namespaces and uses no library templates: nothing compiled for AVX-512 may be merged with code that must
// run without.
#pragma once

#include <cstdint>
#include <cstring>

namespace trine::cpu {
namespace {

constexpr int kWidth = 4;  // lanes
using V = float __attribute__((vector_size(16)));
using Mask = int32_t __attribute__((vector_size(16)));

[[gnu::always_inline]] inline V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
// The first n lanes (any n; at most kWidth are read), the others zero.
[[gnu::always_inline]] inline V load_part(const float* p, int n) {
  if (n >= kWidth) return load(p);
  V v = {};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
[[gnu::always_inline]] inline void store(float* p, V v) { std::memcpy(p, &v, sizeof v); }
[[gnu::always_inline]] inline void store_part(float* p, V v, int n) {
  if (n >= kWidth) return store(p, v);
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
[[gnu::always_inline]] inline V set1(float x) { return V{x, x, x, x}; }
[[gnu::always_inline]] inline V zero() { return V{}; }
[[gnu::always_inline]] inline V add(V a, V b) { return a + b; }
[[gnu::always_inline]] inline V sub(V a, V b) { return a - b; }
[[gnu::always_inline]] inline V mul(V a, V b) { return a * b; }
[[gnu::always_inline]] inline V div(V a, V b) { return a / b; }
[[gnu::always_inline]] inline V reciprocal(V a) { return 1 / a; }
[[gnu::always_inline]] inline V fma(V a, V b, V c) { return a * b + c; }  // rounded once where the machine can
[[gnu::always_inline]] inline void fma_into(V& sum, V a, V b) { sum = sum + a * b; }
[[gnu::always_inline]] inline void fma_broadcast(V& sum, const float* a, V b) { sum = sum + V{*a, *a, *a, *a} * b; }
[[gnu::always_inline]] inline V fnma(V a, V b, V c) { return c - a * b; }
// b when either is NaN: clamps written max(low, x) keep a NaN in x.
[[gnu::always_inline]] inline V vmin(V a, V b) { return a < b ? a : b; }
[[gnu::always_inline]] inline V vmax(V a, V b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Mask less(V a, V b) { return a < b; }
[[gnu::always_inline]] inline Mask equal(V a, V b) { return a == b; }
[[gnu::always_inline]] inline Mask is_nan(V a) { return a != a; }
[[gnu::always_inline]] inline V select(Mask m, V a, V b) { return m ? a : b; }
// The larger one, or whichever is a NaN: of two numbers of which one is, vmax gives the second.
[[gnu::always_inline]] inline V max_or_nan(V a, V b) { return select(is_nan(b), b, vmax(b, a)); }
[[gnu::always_inline]] inline V square_root(V a) {
  return V{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3])};
}
// floor(log2 a) for positive normal a.
[[gnu::always_inline]] inline V exponent(V a) {
  Mask bits;
  std::memcpy(&bits, &a, sizeof a);
  return __builtin_convertvector((bits >> 23) - 127, V);
}
// For |a| < 2^22: adding 1.5 * 2^23 leaves no bits for a fraction.
[[gnu::always_inline]] inline V round_even(V a) {
  V magic = set1(12582912.f);
  V shifted = a + magic;
  asm volatile("" : "+m"(shifted));  // keeps a compiler from simplifying (a + m) - m
  return shifted - magic;
}
// a * 2^n for whole n, right for results that are denormal or overflow.
[[gnu::always_inline]] inline V scale_by_power(V a, V n) {
  V clamped = vmin(set1(250), vmax(set1(-250), n));
  Mask whole = __builtin_convertvector(clamped, Mask);
  Mask half = whole >> 1;  // in two steps: 2^n alone may be past the exponent's range
  Mask p = (half + 127) << 23, q = (whole - half + 127) << 23;
  V x, y;
  std::memcpy(&x, &p, sizeof x);
  std::memcpy(&y, &q, sizeof y);
  return a * x * y;
}
[[gnu::always_inline]] inline float reduce_add(V a) { return (a[0] + a[2]) + (a[1] + a[3]); }
[[gnu::always_inline]] inline float reduce_max(V a) {
  float x = a[0] > a[1] ? a[0] : a[1], y = a[2] > a[3] ? a[2] : a[3];
  return x > y ? x : y;
}
[[gnu::always_inline]] inline void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

// d[j * ldd + i] = s[i * lds + j] for a 16 x 16 block.
[[gnu::always_inline]] inline void transpose_block(const float* s, int64_t lds, float* d, int64_t ldd) {
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < 16; ++i) d[j * ldd + i] = s[i * lds + j];
}

}  // namespace
}  // namespace trine::cpu
