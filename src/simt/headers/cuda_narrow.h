// What cuda_fp16.h and cuda_bf16.h share.
#pragma once

#include "host_defines.h"
#include "math_exp_float.h"
#include "math_hyperbolic_float.h"
#include "math_log_float.h"
#include "math_narrow.h"
#include "math_trig_float.h"
#include "vector_types.h"

#ifdef __CUDA__
#define __TRINE_HD_MEMBER__ __attribute__((always_inline, host, device))
#else
#define __TRINE_HD_MEMBER__ __attribute__((always_inline))
#endif

// Pairs of numbers: one instruction on GPUs; on CPUs lanes are the vectors, and pairs are two numbers.
#ifdef __CUDA_ARCH__
#define __TRINE_TWICE_OF__(name, type, native, operation)                                                  \
  __TRINE_HD__ type##2 __trine_##name##2(type##2 a, type##2 b) {                                           \
    typedef native Two __attribute__((ext_vector_type(2)));                                                \
    if (!TRINE_ON_CPU)                                                                                     \
      return __builtin_bit_cast(type##2, __builtin_bit_cast(Two, a) operation __builtin_bit_cast(Two, b)); \
    return type##2(__trine_##name(a.x, b.x), __trine_##name(a.y, b.y));                                    \
  }
#define __TRINE_TWICE_FMA__(type, native)                                                                         \
  __TRINE_HD__ type##2 __trine_fma2(type##2 a, type##2 b, type##2 c) {                                            \
    typedef native Two __attribute__((ext_vector_type(2)));                                                       \
    if (!TRINE_ON_CPU)                                                                                            \
      return __builtin_bit_cast(type##2,                                                                          \
                                __builtin_elementwise_fma(__builtin_bit_cast(Two, a), __builtin_bit_cast(Two, b), \
                                                          __builtin_bit_cast(Two, c)));                           \
    return type##2(__trine_fma(a.x, b.x, c.x), __trine_fma(a.y, b.y, c.y));                                       \
  }
#else
#define __TRINE_TWICE_OF__(name, type, native, operation)               \
  __TRINE_HD__ type##2 __trine_##name##2(type##2 a, type##2 b) {        \
    return type##2(__trine_##name(a.x, b.x), __trine_##name(a.y, b.y)); \
  }
#define __TRINE_TWICE_FMA__(type, native)                                   \
  __TRINE_HD__ type##2 __trine_fma2(type##2 a, type##2 b, type##2 c) {      \
    return type##2(__trine_fma(a.x, b.x, c.x), __trine_fma(a.y, b.y, c.y)); \
  }
#endif
#define __TRINE_TWICE__(type, native)      \
  __TRINE_TWICE_OF__(add, type, native, +) \
  __TRINE_TWICE_OF__(sub, type, native, -) \
  __TRINE_TWICE_OF__(mul, type, native, *) \
  __TRINE_TWICE_FMA__(type, native)
