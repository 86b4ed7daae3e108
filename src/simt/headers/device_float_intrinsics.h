// Intrinsics of floating-point numbers by CUDA's names: arithmetic and conversions in a given rounding, bits, and the
// fast functions.
#pragma once

#include "host_defines.h"
#include "trine_math.h"

// rn to nearest, rz towards zero, ru up, rd down; the last is PTX's word.
#define __TRINE_ROUNDED__(of) of(rn, nearest, rn) of(rz, zero, rz) of(ru, up, rp) of(rd, down, rm)

// GPUs have instructions; on CPUs results are made from the one to nearest.
#define __TRINE_ON_GPU__(call) \
  if (!TRINE_ON_CPU) return call
#define __TRINE_ARITHMETIC_OF__(type, t, n, suffix, mode, ptx)                                     \
  __TRINE_DEVICE__ type __##t##add_##suffix(type x, type y) {                                      \
    __TRINE_ON_GPU__(__nvvm_add_##ptx##_##n(x, y));                                                \
    return trine_math::add_rounded<trine_math::Round::mode>(x, y);                                 \
  }                                                                                                \
  __TRINE_DEVICE__ type __##t##sub_##suffix(type x, type y) { return __##t##add_##suffix(x, -y); } \
  __TRINE_DEVICE__ type __##t##mul_##suffix(type x, type y) {                                      \
    __TRINE_ON_GPU__(__nvvm_mul_##ptx##_##n(x, y));                                                \
    return trine_math::mul_rounded<trine_math::Round::mode>(x, y);                                 \
  }                                                                                                \
  __TRINE_DEVICE__ type __##t##div_##suffix(type x, type y) {                                      \
    __TRINE_ON_GPU__(__nvvm_div_##ptx##_##n(x, y));                                                \
    return trine_math::div_rounded<trine_math::Round::mode>(x, y);                                 \
  }                                                                                                \
  __TRINE_DEVICE__ type __##t##rcp_##suffix(type x) {                                              \
    __TRINE_ON_GPU__(__nvvm_rcp_##ptx##_##n(x));                                                   \
    return trine_math::div_rounded<trine_math::Round::mode>((type)1, x);                           \
  }                                                                                                \
  __TRINE_DEVICE__ type __##t##sqrt_##suffix(type x) {                                             \
    __TRINE_ON_GPU__(__nvvm_sqrt_##ptx##_##n(x));                                                  \
    return trine_math::sqrt_rounded<trine_math::Round::mode>(x);                                   \
  }
#define __TRINE_FMA__(type, name, n, mode, ptx)                       \
  __TRINE_DEVICE__ type name(type x, type y, type z) {                \
    __TRINE_ON_GPU__(__nvvm_fma_##ptx##_##n(x, y, z));                \
    return trine_math::fma_rounded<trine_math::Round::mode>(x, y, z); \
  }
#define __TRINE_ARITHMETIC__(suffix, mode, ptx)            \
  __TRINE_ARITHMETIC_OF__(float, f, f, suffix, mode, ptx)  \
  __TRINE_ARITHMETIC_OF__(double, d, d, suffix, mode, ptx) \
  __TRINE_FMA__(float, __fmaf_##suffix, f, mode, ptx)      \
  __TRINE_FMA__(float, __fmaf_ieee_##suffix, f, mode, ptx) \
  __TRINE_FMA__(double, __fma_##suffix, d, mode, ptx)
__TRINE_ROUNDED__(__TRINE_ARITHMETIC__)
#undef __TRINE_ARITHMETIC__
#undef __TRINE_ARITHMETIC_OF__
#undef __TRINE_FMA__
#undef __TRINE_ON_GPU__

#define __TRINE_TO_INTEGER__(from, type, suffix, mode)                             \
  __TRINE_DEVICE__ int __##from##2int_##suffix(type x) {                           \
    return trine_math::to_integer<int, trine_math::Round::mode>(x);                \
  }                                                                                \
  __TRINE_DEVICE__ unsigned __##from##2uint_##suffix(type x) {                     \
    return trine_math::to_integer<unsigned, trine_math::Round::mode>(x);           \
  }                                                                                \
  __TRINE_DEVICE__ long long __##from##2ll_##suffix(type x) {                      \
    return trine_math::to_integer<long long, trine_math::Round::mode>(x);          \
  }                                                                                \
  __TRINE_DEVICE__ unsigned long long __##from##2ull_##suffix(type x) {            \
    return trine_math::to_integer<unsigned long long, trine_math::Round::mode>(x); \
  }
#define __TRINE_FROM_INTEGER__(from, type, to, result, suffix, mode) \
  __TRINE_DEVICE__ result __##from##2##to##_##suffix(type x) { return trine_math::to_##to<trine_math::Round::mode>(x); }
#define __TRINE_CONVERSIONS__(suffix, mode, ptx)                                \
  __TRINE_TO_INTEGER__(float, float, suffix, mode)                              \
  __TRINE_TO_INTEGER__(double, double, suffix, mode)                            \
  __TRINE_FROM_INTEGER__(int, int, float, float, suffix, mode)                  \
  __TRINE_FROM_INTEGER__(uint, unsigned, float, float, suffix, mode)            \
  __TRINE_FROM_INTEGER__(ll, long long, float, float, suffix, mode)             \
  __TRINE_FROM_INTEGER__(ull, unsigned long long, float, float, suffix, mode)   \
  __TRINE_FROM_INTEGER__(ll, long long, double, double, suffix, mode)           \
  __TRINE_FROM_INTEGER__(ull, unsigned long long, double, double, suffix, mode) \
  __TRINE_DEVICE__ float __double2float_##suffix(double x) { return trine_math::narrow<trine_math::Round::mode>(x); }
__TRINE_ROUNDED__(__TRINE_CONVERSIONS__)
#undef __TRINE_CONVERSIONS__
#undef __TRINE_FROM_INTEGER__
#undef __TRINE_TO_INTEGER__
#undef __TRINE_ROUNDED__
__TRINE_DEVICE__ double __int2double_rn(int x) { return x; }
__TRINE_DEVICE__ double __uint2double_rn(unsigned x) { return x; }

#define __TRINE_BITS__(result, name, type) \
  __TRINE_DEVICE__ result name(type x) { return __builtin_bit_cast(result, x); }
__TRINE_BITS__(int, __float_as_int, float)
__TRINE_BITS__(unsigned, __float_as_uint, float)
__TRINE_BITS__(float, __int_as_float, int)
__TRINE_BITS__(float, __uint_as_float, unsigned)
__TRINE_BITS__(long long, __double_as_longlong, double)
__TRINE_BITS__(double, __longlong_as_double, long long)
#undef __TRINE_BITS__
__TRINE_DEVICE__ int __double2hiint(double x) { return trine_math::high_int(x); }
__TRINE_DEVICE__ int __double2loint(double x) { return trine_math::low_int(x); }
__TRINE_DEVICE__ double __hiloint2double(int high, int low) { return trine_math::double_of(high, low); }

#define __TRINE_FAST__(name) \
  __TRINE_DEVICE__ float __##name##f(float x) { return trine_math::fast_##name(x); }
__TRINE_FAST__(sin)
__TRINE_FAST__(cos)
__TRINE_FAST__(tan)
__TRINE_FAST__(exp)
__TRINE_FAST__(exp10)
__TRINE_FAST__(log)
__TRINE_FAST__(log2)
__TRINE_FAST__(log10)
#undef __TRINE_FAST__
__TRINE_DEVICE__ float __powf(float x, float y) { return trine_math::fast_pow(x, y); }
__TRINE_DEVICE__ float __fdividef(float x, float y) { return trine_math::fast_divide(x, y); }
__TRINE_DEVICE__ void __sincosf(float x, float* sine, float* cosine) {
  *sine = trine_math::fast_sin(x);
  *cosine = trine_math::fast_cos(x);
}
__TRINE_DEVICE__ float __saturatef(float x) { return trine_math::saturate(x); }
__TRINE_DEVICE__ float __frsqrt_rn(float x) { return (float)(1.0 / trine_math::sqrt((double)x)); }
