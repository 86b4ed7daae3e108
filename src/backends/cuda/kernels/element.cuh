// Elements of any type as f32 and back, and as many at a time as 16 bytes hold.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "sizes.cuh"

namespace trine {

constexpr float kInfinity = __builtin_inff();

// n becomes the quotient; the remainder is returned.
__device__ inline unsigned taken(unsigned& n, Divider d) {
  const unsigned q = divided(n, d), r = n - q * d.divisor;
  n = q;
  return r;
}

__device__ inline float widened(float x) { return x; }
__device__ inline float widened(__half x) { return __half2float(x); }
__device__ inline float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float widened(signed char x) { return x; }
__device__ inline float widened(unsigned char x) { return x; }
__device__ inline float widened(int x) { return static_cast<float>(x); }

// To nearest, ties to even; integers saturate and take 0 for a NaN.
template <class T>
__device__ inline T narrowed(float x);
template <>
__device__ inline float narrowed<float>(float x) {
  return x;
}
template <>
__device__ inline __half narrowed<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 narrowed<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
__device__ inline float fitted(float x, float low, float high) {
  if (x != x) return 0.f;
  x = x < low ? low : x;
  return x > high ? high : x;
}
template <>
__device__ inline signed char narrowed<signed char>(float x) {
  return static_cast<signed char>(__float2int_rn(fitted(x, -128.f, 127.f)));
}
template <>
__device__ inline unsigned char narrowed<unsigned char>(float x) {
  return static_cast<unsigned char>(__float2int_rn(fitted(x, 0.f, 255.f)));
}
template <>
__device__ inline int narrowed<int>(float x) {
  return x != x ? 0 : __float2int_rn(x);
}  // the conversion saturates

// N elements side by side, read and written at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
};

template <class T, int N>
__device__ inline bool aligned(const T* p) {
  return reinterpret_cast<unsigned long long>(p) % (sizeof(T) * N) == 0;
}

// `count` < N: the last ones of a row; `whole` says that the address is aligned.
template <class T, int N>
__device__ inline Pack<T, N> loaded(const T* p, unsigned count, bool whole) {
  if (whole && count >= N) return *reinterpret_cast<const Pack<T, N>*>(p);
  Pack<T, N> v{};
  for (unsigned i = 0; i < N; ++i)
    if (i < count) v.at[i] = p[i];
  return v;
}
template <class T, int N>
__device__ inline void store(T* p, const Pack<T, N>& v, unsigned count, bool whole) {
  if (whole && count >= N) {
    *reinterpret_cast<Pack<T, N>*>(p) = v;
    return;
  }
  for (unsigned i = 0; i < N; ++i)
    if (i < count) p[i] = v.at[i];
}

}  // namespace trine
