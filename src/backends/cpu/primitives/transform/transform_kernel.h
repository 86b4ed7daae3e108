// Bodies of the transform kernels; included by transform_baseline.cc, transform_avx2.cc and transform_avx512.cc. Blocks
// of elements become f32, are scaled, and become the result's type: loops that compilers turn into vectors.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <cstring>

#include "backends/cpu/primitives/transform/transform.h"
#include "base/float_formats.h"

namespace trine::cpu {
namespace {

constexpr int64_t kBlock = 64;

struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

[[gnu::always_inline]] inline float to_f32(float x) { return x; }
[[gnu::always_inline]] inline float to_f32(int8_t x) { return x; }
[[gnu::always_inline]] inline float to_f32(uint8_t x) { return x; }
[[gnu::always_inline]] inline float to_f32(int32_t x) { return static_cast<float>(x); }
[[gnu::always_inline]] inline float to_f32(Bf16 x) {
  const uint32_t wide = uint32_t{x.bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}
[[gnu::always_inline]] inline float to_f32(F16 x) {
#if defined(__F16C__)
  return _cvtsh_ss(x.bits);
#else
  return static_cast<float>(small_float_value(DType::f16, x.bits));
#endif
}

// Within +-2^22 adding 1.5 * 2^23 leaves a whole number, rounded half to even.
[[gnu::always_inline]] inline int32_t whole(float x, float low, float high) {
  const float bounded = x < low ? low : x > high ? high : x == x ? x : 0;
  return static_cast<int32_t>((bounded + 12582912.f) - 12582912.f);
}
[[gnu::always_inline]] inline void from_f32(float x, float& y) { y = x; }
[[gnu::always_inline]] inline void from_f32(float x, int8_t& y) { y = static_cast<int8_t>(whole(x, -128, 127)); }
[[gnu::always_inline]] inline void from_f32(float x, uint8_t& y) { y = static_cast<uint8_t>(whole(x, 0, 255)); }
[[gnu::always_inline]] inline void from_f32(float x, int32_t& y) {
  y = x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : x == x ? static_cast<int32_t>(__builtin_rintf(x)) : 0;
}
[[gnu::always_inline]] inline void from_f32(float x, Bf16& y) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  y.bits = static_cast<uint16_t>(x == x ? rounded : (bits >> 16 | 0x40));
}
[[gnu::always_inline]] inline void from_f32(float x, F16& y) {
#if defined(__F16C__)
  y.bits = _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
#else
  y.bits = small_float_bits(DType::f16, static_cast<double>(x));
#endif
}

template <class T>
void load_block(const void* from, int64_t stride, int64_t n, float* to) {
  const T* in = static_cast<const T*>(from);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = to_f32(in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = to_f32(in[i * stride]);
  }
}
template <class T>
void store_block(const float* from, int64_t n, void* to, int64_t stride) {
  T* out = static_cast<T*>(to);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) from_f32(from[i], out[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) from_f32(from[i], out[i * stride]);
  }
}

// body(T*) for the memory type of `type`.
template <class Body>
[[gnu::always_inline]] inline void with_type(DType type, Body body) {
  switch (type) {
    case DType::f16: return body(static_cast<F16*>(nullptr));
    case DType::bf16: return body(static_cast<Bf16*>(nullptr));
    case DType::i8: return body(static_cast<int8_t*>(nullptr));
    case DType::u8: return body(static_cast<uint8_t*>(nullptr));
    case DType::i32: return body(static_cast<int32_t*>(nullptr));
    default: return body(static_cast<float*>(nullptr));
  }
}

void load_any(DType type, const void* base, int64_t first, int64_t stride, int64_t n, float* to) {
  with_type(type, [&]<class T>(T*) { load_block<T>(static_cast<const T*>(base) + first * stride, stride, n, to); });
}

void transform(const TransformRun& r) {
  float x[kBlock], y[kBlock];
  for (int64_t first = 0; first < r.count; first += kBlock) {
    const int64_t n = r.count - first < kBlock ? r.count - first : kBlock;
    load_any(r.in_type, r.in, first, r.in_stride, n, x);
    for (int64_t i = 0; i < n; ++i) x[i] *= r.alpha;
    if (r.beta != 0) {
      load_any(r.out_type, r.out, first, r.out_stride, n, y);
      for (int64_t i = 0; i < n; ++i) x[i] += r.beta * y[i];
    }
    with_type(r.out_type,
              [&]<class T>(T*) { store_block<T>(x, n, static_cast<T*>(r.out) + first * r.out_stride, r.out_stride); });
  }
}

}  // namespace
}  // namespace trine::cpu
