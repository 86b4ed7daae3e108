// half and half2: IEEE 754 numbers of 16 bits, on the device and on the host. Arithmetic rounds once and is never
// contracted, so that all machines give the same bits.
#pragma once

#define __CUDA_FP16_H__  // libraries ask for it
#define __CUDA_FP16_TYPES_EXIST__

#include "cuda_narrow.h"

#define __TRINE_N__ __half
#define __TRINE_N2__ __half2
#define __TRINE_S__ half
#define __TRINE_S2__ half2
#define __TRINE_WORD__ half
#define __TRINE_WORD2__ half2
#define __TRINE_TO2__ 2half2
#define __TRINE_RAW__ __half_raw
#define __TRINE_RAW2__ __half2_raw
#define __TRINE_BITS_OF__ trine_math::narrow_to_half
#define __TRINE_VALUE_OF__ trine_math::widen_half

#include "cuda_narrow_type.h"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#ifdef __clang__
#pragma clang fp contract(off)
#endif

#ifdef __CUDA_ARCH__
#define __TRINE_HALF__(operation)   \
  return __builtin_bit_cast(__half, \
                            (_Float16)(__builtin_bit_cast(_Float16, a) operation __builtin_bit_cast(_Float16, b)))
#else
#define __TRINE_HALF__(operation) return __half((float)a operation(float) b)
#endif
__TRINE_HD__ __half __trine_add(__half a, __half b) { __TRINE_HALF__(+); }
__TRINE_HD__ __half __trine_sub(__half a, __half b) { __TRINE_HALF__(-); }
__TRINE_HD__ __half __trine_mul(__half a, __half b) { __TRINE_HALF__(*); }
#undef __TRINE_HALF__
__TRINE_HD__ __half __trine_div(__half a, __half b) { return __half((float)a / (float)b); }
__TRINE_HD__ __half __trine_fma(__half a, __half b, __half c) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU)
    return __builtin_bit_cast(__half, __builtin_fmaf16(__builtin_bit_cast(_Float16, a), __builtin_bit_cast(_Float16, b),
                                                       __builtin_bit_cast(_Float16, c)));
#endif
  return __half(trine_math::odd_fma_half((float)a, (float)b, (float)c));
}
__TRINE_TWICE__(__half, _Float16)

// A float to nearest, moved to the side that the rounding asks for.
template <trine_math::Round kRound>
__TRINE_HD__ __half __trine_round(float a, __half) {
  const unsigned short code = trine_math::narrow_to_half(a);
  const float back = trine_math::widen_half(code);
  return __half_raw{(unsigned short)trine_math::settle_code<kRound, trine_math::HalfFormat>(code, back, a)};
}
__TRINE_HD__ __half __trine_nan(__half) { return __half_raw{0x7fff}; }

#include "cuda_narrow_operations.h"

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)

#include "cuda_narrow_end.h"
