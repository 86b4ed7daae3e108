// Numbers of 8 bits: E4M3 (no infinity, the largest is 448) and E5M2 (as a half without its low byte). They are stored
// and converted, not calculated with. On the device and on the host.
#pragma once

#define __CUDA_FP8_H__  // libraries ask for it
#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "vector_functions.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
// What is too large becomes infinity (E4M3: NaN), or the largest number.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// From float; a double or a pair of halves is a float first, in a way that rounds once.
__TRINE_HD__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturation,
                                                      const __nv_fp8_interpretation_t kind) {
  const bool saturate = saturation == __NV_SATFINITE;
  return (__nv_fp8_storage_t)(kind == __NV_E4M3 ? trine_math::narrow_to<trine_math::E4m3>(x, saturate)
                                                : trine_math::narrow_to<trine_math::E5m2>(x, saturate));
}
__TRINE_HD__ __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturation,
                                                       const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(trine_math::odd_float(x), saturation, kind);
}
__TRINE_HD__ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturation,
                                                        const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__half2float(x), saturation, kind);
}
__TRINE_HD__ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                            const __nv_saturation_t saturation,
                                                            const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__bfloat162float(x), saturation, kind);
}
#define __TRINE_PAIR__(name, type, one)                                                          \
  __TRINE_HD__ __nv_fp8x2_storage_t name(const type v, const __nv_saturation_t saturation,       \
                                         const __nv_fp8_interpretation_t kind) {                 \
    return (__nv_fp8x2_storage_t)(one(v.x, saturation, kind) | one(v.y, saturation, kind) << 8); \
  }
__TRINE_PAIR__(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8)
__TRINE_PAIR__(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8)
__TRINE_PAIR__(__trine_half2_to_fp8x2, __half2, __nv_cvt_halfraw_to_fp8)
__TRINE_PAIR__(__trine_bfloat162_to_fp8x2, __nv_bfloat162, __nv_cvt_bfloat16raw_to_fp8)
#undef __TRINE_PAIR__
__TRINE_HD__ __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturation,
                                                             const __nv_fp8_interpretation_t kind) {
  return __trine_half2_to_fp8x2(x, saturation, kind);
}
__TRINE_HD__ __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                 const __nv_saturation_t saturation,
                                                                 const __nv_fp8_interpretation_t kind) {
  return __trine_bfloat162_to_fp8x2(x, saturation, kind);
}

// To half: exact, in both formats.
__TRINE_HD__ __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) return __half_raw{(unsigned short)((x & 0x7f) > 0x7c ? 0x7fff : x << 8)};
  return __half(trine_math::widen<trine_math::E4m3>(x));
}
__TRINE_HD__ __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                                    const __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
                     __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

// One, two and four numbers. As CUDA's they saturate when they are made.
#define __TRINE_ONE__(type, kind)                                                                         \
  struct type {                                                                                           \
    __nv_fp8_storage_t __x;                                                                               \
    type() = default;                                                                                     \
    __TRINE_HD_MEMBER__ explicit type(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind)) {}   \
    __TRINE_HD_MEMBER__ explicit type(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind)) {} \
    __TRINE_HD_MEMBER__ explicit type(int v) : type(trine_math::odd_integer(v)) {}                        \
    __TRINE_HD_MEMBER__ explicit type(unsigned v) : type(trine_math::odd_integer(v)) {}                   \
    __TRINE_HD_MEMBER__ explicit type(long v) : type(trine_math::odd_integer(v)) {}                       \
    __TRINE_HD_MEMBER__ explicit type(unsigned long v) : type(trine_math::odd_integer(v)) {}              \
    __TRINE_HD_MEMBER__ explicit type(long long v) : type(trine_math::odd_integer(v)) {}                  \
    __TRINE_HD_MEMBER__ explicit type(unsigned long long v) : type(trine_math::odd_integer(v)) {}         \
    __TRINE_HD_MEMBER__ explicit type(const __half& v) : type((float)v) {}                                \
    __TRINE_HD_MEMBER__ explicit type(const __nv_bfloat16& v) : type((float)v) {}                         \
    __TRINE_HD_MEMBER__ explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kind); }   \
    __TRINE_HD_MEMBER__ explicit operator float() const { return (float)(__half) * this; }                \
    __TRINE_HD_MEMBER__ explicit operator double() const { return (float)(__half) * this; }               \
    __TRINE_HD_MEMBER__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }   \
    __TRINE_HD_MEMBER__ explicit operator int() const {                                                   \
      return trine_math::to_integer<int, trine_math::Round::zero>((float)*this);                          \
    }                                                                                                     \
    __TRINE_HD_MEMBER__ explicit operator unsigned() const {                                              \
      return trine_math::to_integer<unsigned, trine_math::Round::zero>((float)*this);                     \
    }                                                                                                     \
    __TRINE_HD_MEMBER__ explicit operator bool() const { return (__x & 0x7f) != 0; }                      \
  };
__TRINE_ONE__(__nv_fp8_e4m3, __NV_E4M3)
__TRINE_ONE__(__nv_fp8_e5m2, __NV_E5M2)
#undef __TRINE_ONE__

#define __TRINE_TWO__(type, kind)                                                                                    \
  struct __align__(2) type {                                                                                         \
    __nv_fp8x2_storage_t __x;                                                                                        \
    type() = default;                                                                                                \
    __TRINE_HD_MEMBER__ explicit type(const float2& v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {}   \
    __TRINE_HD_MEMBER__ explicit type(const double2& v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    __TRINE_HD_MEMBER__ explicit type(const __half2& v) : __x(__trine_half2_to_fp8x2(v, __NV_SATFINITE, kind)) {}    \
    __TRINE_HD_MEMBER__ explicit type(const __nv_bfloat162& v)                                                       \
        : __x(__trine_bfloat162_to_fp8x2(v, __NV_SATFINITE, kind)) {}                                                \
    __TRINE_HD_MEMBER__ explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }          \
    __TRINE_HD_MEMBER__ explicit operator float2() const { return __half22float2((__half2) * this); }                \
  };
__TRINE_TWO__(__nv_fp8x2_e4m3, __NV_E4M3)
__TRINE_TWO__(__nv_fp8x2_e5m2, __NV_E5M2)
#undef __TRINE_TWO__

#define __TRINE_FOUR__(type, two)                                                            \
  struct __align__(4) type {                                                                 \
    __nv_fp8x4_storage_t __x;                                                                \
    type() = default;                                                                        \
    __TRINE_HD_MEMBER__ explicit type(const float4& v)                                       \
        : __x(two(float2{v.x, v.y}).__x | (unsigned)two(float2{v.z, v.w}).__x << 16) {}      \
    __TRINE_HD_MEMBER__ explicit type(const double4& v)                                      \
        : __x(two(double2{v.x, v.y}).__x | (unsigned)two(double2{v.z, v.w}).__x << 16) {}    \
    __TRINE_HD_MEMBER__ explicit type(const __half2& low, const __half2& high)               \
        : __x(two(low).__x | (unsigned)two(high).__x << 16) {}                               \
    __TRINE_HD_MEMBER__ explicit type(const __nv_bfloat162& low, const __nv_bfloat162& high) \
        : __x(two(low).__x | (unsigned)two(high).__x << 16) {}                               \
    __TRINE_HD_MEMBER__ explicit operator float4() const {                                   \
      two low, high;                                                                         \
      low.__x = (__nv_fp8x2_storage_t)__x;                                                   \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                          \
      const float2 a = (float2)low, b = (float2)high;                                        \
      return float4{a.x, a.y, b.x, b.y};                                                     \
    }                                                                                        \
  };
__TRINE_FOUR__(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3)
__TRINE_FOUR__(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2)
#undef __TRINE_FOUR__
