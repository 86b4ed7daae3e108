// __nv_bfloat16 and __nv_bfloat162: the upper halves of floats, on the device and on the host. As cuda_fp16.h.
#pragma once

#define __CUDA_BF16_H__  // libraries ask for it
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_narrow.h"

#define __TRINE_N__ __nv_bfloat16
#define __TRINE_N2__ __nv_bfloat162
#define __TRINE_S__ bfloat16
#define __TRINE_S2__ bfloat162
#define __TRINE_WORD__ bfloat16
#define __TRINE_WORD2__ bfloat162
#define __TRINE_TO2__ 2bfloat162
#define __TRINE_RAW__ __nv_bfloat16_raw
#define __TRINE_RAW2__ __nv_bfloat162_raw
#define __TRINE_BITS_OF__ trine_math::narrow_to_bf16
#define __TRINE_VALUE_OF__ trine_math::widen_bf16

#include "cuda_narrow_type.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#ifdef __clang__
#pragma clang fp contract(off)
#endif

// LLVM's own arithmetic of bf16 on CPUs may lose denormal numbers: there it is that of floats, rounded again, which is
// the same. So is fma of doubles rounded to odd.
#ifdef __CUDA_ARCH__
#define __TRINE_BF16__(operation)                                                                               \
  if (!TRINE_ON_CPU)                                                                                            \
    return __builtin_bit_cast(__nv_bfloat16,                                                                    \
                              (__bf16)(__builtin_bit_cast(__bf16, a) operation __builtin_bit_cast(__bf16, b))); \
  return __nv_bfloat16((float)a operation(float) b)
#else
#define __TRINE_BF16__(operation) return __nv_bfloat16((float)a operation(float) b)
#endif
__TRINE_HD__ __nv_bfloat16 __trine_add(__nv_bfloat16 a, __nv_bfloat16 b) { __TRINE_BF16__(+); }
__TRINE_HD__ __nv_bfloat16 __trine_sub(__nv_bfloat16 a, __nv_bfloat16 b) { __TRINE_BF16__(-); }
__TRINE_HD__ __nv_bfloat16 __trine_mul(__nv_bfloat16 a, __nv_bfloat16 b) { __TRINE_BF16__(*); }
#undef __TRINE_BF16__
__TRINE_HD__ __nv_bfloat16 __trine_div(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
__TRINE_HD__ __nv_bfloat16 __trine_fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU)
    return __builtin_bit_cast(__nv_bfloat16,
                              __builtin_elementwise_fma(__builtin_bit_cast(__bf16, a), __builtin_bit_cast(__bf16, b),
                                                        __builtin_bit_cast(__bf16, c)));
#endif
  return __nv_bfloat16(trine_math::odd_fma_bf16((float)a, (float)b, (float)c));
}
__TRINE_TWICE__(__nv_bfloat16, __bf16)

template <trine_math::Round kRound>
__TRINE_HD__ __nv_bfloat16 __trine_round(float a, __nv_bfloat16) {
  const unsigned short code = trine_math::narrow_to_bf16(a);
  const float back = trine_math::widen_bf16(code);
  return __nv_bfloat16_raw{(unsigned short)trine_math::settle_code<kRound, trine_math::Bf16Format>(code, back, a)};
}
__TRINE_HD__ __nv_bfloat16 __trine_nan(__nv_bfloat16) { return __nv_bfloat16_raw{0x7fff}; }

#include "cuda_narrow_operations.h"

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)

#include "cuda_narrow_end.h"
