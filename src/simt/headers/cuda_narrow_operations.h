// What may be done with the two types of a 16-bit format. Included once for each, after cuda_narrow_type.h and
//   __trine_add, sub, mul, div, fma(N...)   rounded once
//   __trine_add2, sub2, mul2, fma2(N2...)
// No #pragma once.

#define __TRINE_PASTE__(a, b, c) a##b##c
#define __TRINE_NAME__(a, b, c) __TRINE_PASTE__(a, b, c)
#define __TRINE_W__(v) __TRINE_NAME__(__, __TRINE_S__, 2float)(v)
#define __TRINE_R__(v) __TRINE_NAME__(__float2, __TRINE_S__, _rn)(v)

// float and double
__TRINE_HD__ float __TRINE_NAME__(__, __TRINE_S__, 2float)(__TRINE_N__ a) { return static_cast<float>(a); }
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__float2, __TRINE_S__, )(float a) { return __TRINE_N__(a); }
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__float2, __TRINE_S__, _rn)(float a) { return __TRINE_N__(a); }
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__double2, __TRINE_S__, )(double a) { return __TRINE_N__(a); }
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__float2, __TRINE_S2__, _rn)(float a) {
  return __TRINE_N2__(__TRINE_N__(a), __TRINE_N__(a));
}
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__floats2, __TRINE_S2__, _rn)(float a, float b) {
  return __TRINE_N2__(__TRINE_N__(a), __TRINE_N__(b));
}
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__float22, __TRINE_S2__, _rn)(float2 a) {
  return __TRINE_N2__(__TRINE_N__(a.x), __TRINE_N__(a.y));
}
__TRINE_HD__ float2 __TRINE_NAME__(__, __TRINE_S2__, 2float2)(__TRINE_N2__ a) {
  return float2{__TRINE_W__(a.x), __TRINE_W__(a.y)};
}
__TRINE_HD__ float __low2float(__TRINE_N2__ a) { return __TRINE_W__(a.x); }
__TRINE_HD__ float __high2float(__TRINE_N2__ a) { return __TRINE_W__(a.y); }

// Bits
__TRINE_HD__ short __TRINE_NAME__(__, __TRINE_WORD__, _as_short)(__TRINE_N__ a) { return __builtin_bit_cast(short, a); }
__TRINE_HD__ unsigned short __TRINE_NAME__(__, __TRINE_WORD__, _as_ushort)(__TRINE_N__ a) {
  return __builtin_bit_cast(unsigned short, a);
}
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__short_as_, __TRINE_WORD__, )(short a) {
  return __builtin_bit_cast(__TRINE_N__, a);
}
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__ushort_as_, __TRINE_WORD__, )(unsigned short a) {
  return __builtin_bit_cast(__TRINE_N__, a);
}

// Halves of pairs
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(make_, __TRINE_WORD2__, )(__TRINE_N__ a, __TRINE_N__ b) {
  return __TRINE_N2__(a, b);
}
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__halves2, __TRINE_S2__, )(__TRINE_N__ a, __TRINE_N__ b) {
  return __TRINE_N2__(a, b);
}
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__, __TRINE_S__, __TRINE_TO2__)(__TRINE_N__ a) { return __TRINE_N2__(a, a); }
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__low2, __TRINE_S__, )(__TRINE_N2__ a) { return a.x; }
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__high2, __TRINE_S__, )(__TRINE_N2__ a) { return a.y; }
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__low2, __TRINE_S2__, )(__TRINE_N2__ a) { return __TRINE_N2__(a.x, a.x); }
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__high2, __TRINE_S2__, )(__TRINE_N2__ a) { return __TRINE_N2__(a.y, a.y); }
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__lows2, __TRINE_S2__, )(__TRINE_N2__ a, __TRINE_N2__ b) {
  return __TRINE_N2__(a.x, b.x);
}
__TRINE_HD__ __TRINE_N2__ __TRINE_NAME__(__highs2, __TRINE_S2__, )(__TRINE_N2__ a, __TRINE_N2__ b) {
  return __TRINE_N2__(a.y, b.y);
}
__TRINE_HD__ __TRINE_N2__ __lowhigh2highlow(__TRINE_N2__ a) { return __TRINE_N2__(a.y, a.x); }

// Arithmetic, for pairs element by element
#define __TRINE_BINARY__(name, expression) \
  __TRINE_HD__ __TRINE_N__ name(__TRINE_N__ a, __TRINE_N__ b) { return expression; }
#define __TRINE_BOTH__(name) \
  __TRINE_HD__ __TRINE_N2__ name##2(__TRINE_N2__ a, __TRINE_N2__ b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define __TRINE_EACH__(name, expression) __TRINE_BINARY__(name, expression) __TRINE_BOTH__(name)
#define __TRINE_PACKED__(name, function)                                                                         \
  __TRINE_HD__ __TRINE_N__ name(__TRINE_N__ a, __TRINE_N__ b) { return function(a, b); }                         \
  __TRINE_HD__ __TRINE_N2__ name##2(__TRINE_N2__ a, __TRINE_N2__ b) { return function##2(a, b); }                \
  __TRINE_HD__ __TRINE_N__ name##_rn(__TRINE_N__ a, __TRINE_N__ b) { return function(a, b); }                    \
  __TRINE_HD__ __TRINE_N2__ name##2_rn(__TRINE_N2__ a, __TRINE_N2__ b) { return function##2(a, b); }             \
  __TRINE_HD__ __TRINE_N__ name##_sat(__TRINE_N__ a, __TRINE_N__ b) { return __trine_saturate(function(a, b)); } \
  __TRINE_HD__ __TRINE_N2__ name##2_sat(__TRINE_N2__ a, __TRINE_N2__ b) {                                        \
    const __TRINE_N2__ r = function##2(a, b);                                                                    \
    return {__trine_saturate(r.x), __trine_saturate(r.y)};                                                       \
  }
__TRINE_HD__ __TRINE_N__ __trine_saturate(__TRINE_N__ a) { return __TRINE_R__(trine_math::saturate(__TRINE_W__(a))); }
// Below zero, zero; NaN stays.
__TRINE_HD__ __TRINE_N__ __trine_relu(__TRINE_N__ a) {
  const float x = __TRINE_W__(a);
  return __TRINE_R__(x < 0.0f ? 0.0f : x);
}
__TRINE_PACKED__(__hadd, __trine_add)
__TRINE_PACKED__(__hsub, __trine_sub)
__TRINE_PACKED__(__hmul, __trine_mul)
__TRINE_HD__ __TRINE_N__ __hdiv(__TRINE_N__ a, __TRINE_N__ b) { return __trine_div(a, b); }
__TRINE_HD__ __TRINE_N2__ __h2div(__TRINE_N2__ a, __TRINE_N2__ b) {
  return {__trine_div(a.x, b.x), __trine_div(a.y, b.y)};
}
__TRINE_HD__ __TRINE_N__ __hfma(__TRINE_N__ a, __TRINE_N__ b, __TRINE_N__ c) { return __trine_fma(a, b, c); }
__TRINE_HD__ __TRINE_N2__ __hfma2(__TRINE_N2__ a, __TRINE_N2__ b, __TRINE_N2__ c) { return __trine_fma2(a, b, c); }
#define __TRINE_FMA__(suffix, function)                                                       \
  __TRINE_HD__ __TRINE_N__ __hfma##suffix(__TRINE_N__ a, __TRINE_N__ b, __TRINE_N__ c) {      \
    return function(__trine_fma(a, b, c));                                                    \
  }                                                                                           \
  __TRINE_HD__ __TRINE_N2__ __hfma2##suffix(__TRINE_N2__ a, __TRINE_N2__ b, __TRINE_N2__ c) { \
    const __TRINE_N2__ r = __trine_fma2(a, b, c);                                             \
    return {function(r.x), function(r.y)};                                                    \
  }
__TRINE_FMA__(_sat, __trine_saturate)
__TRINE_FMA__(_relu, __trine_relu)
#undef __TRINE_FMA__

__TRINE_HD__ __TRINE_N__ __hneg(__TRINE_N__ a) {
  return __builtin_bit_cast(__TRINE_N__, (unsigned short)(__builtin_bit_cast(unsigned short, a) ^ 0x8000));
}
__TRINE_HD__ __TRINE_N__ __habs(__TRINE_N__ a) {
  return __builtin_bit_cast(__TRINE_N__, (unsigned short)(__builtin_bit_cast(unsigned short, a) & 0x7fff));
}
__TRINE_HD__ __TRINE_N2__ __hneg2(__TRINE_N2__ a) { return {__hneg(a.x), __hneg(a.y)}; }
__TRINE_HD__ __TRINE_N2__ __habs2(__TRINE_N2__ a) { return {__habs(a.x), __habs(a.y)}; }
// a b + c of complex numbers.
__TRINE_HD__ __TRINE_N2__ __hcmadd(__TRINE_N2__ a, __TRINE_N2__ b, __TRINE_N2__ c) {
  const __TRINE_N__ re = __trine_fma(__hneg(a.y), b.y, __trine_fma(a.x, b.x, c.x));
  return {re, __trine_fma(a.y, b.x, __trine_fma(a.x, b.y, c.y))};
}

// Comparisons: ordered, and those that NaN makes true (u). Of pairs: 1 or 0 each, a mask of bits, or whether both.
#define __TRINE_COMPARE__(word, condition)                                                                   \
  __TRINE_HD__ bool __h##word(__TRINE_N__ a, __TRINE_N__ b) {                                                \
    const float x = __TRINE_W__(a), y = __TRINE_W__(b);                                                      \
    return condition;                                                                                        \
  }                                                                                                          \
  __TRINE_HD__ __TRINE_N2__ __h##word##2(__TRINE_N2__ a, __TRINE_N2__ b) {                                   \
    return {__TRINE_R__(__h##word(a.x, b.x) ? 1.0f : 0.0f), __TRINE_R__(__h##word(a.y, b.y) ? 1.0f : 0.0f)}; \
  }                                                                                                          \
  __TRINE_HD__ unsigned __h##word##2_mask(__TRINE_N2__ a, __TRINE_N2__ b) {                                  \
    return (__h##word(a.x, b.x) ? 0xffffu : 0u) | (__h##word(a.y, b.y) ? 0xffff0000u : 0u);                  \
  }                                                                                                          \
  __TRINE_HD__ bool __hb##word##2(__TRINE_N2__ a, __TRINE_N2__ b) { return __h##word(a.x, b.x) && __h##word(a.y, b.y); }
__TRINE_COMPARE__(eq, x == y)
__TRINE_COMPARE__(ne, x<y || x> y)
__TRINE_COMPARE__(le, x <= y)
__TRINE_COMPARE__(ge, x >= y)
__TRINE_COMPARE__(lt, x < y)
__TRINE_COMPARE__(gt, x > y)
__TRINE_COMPARE__(equ, !(x < y || x > y))
__TRINE_COMPARE__(neu, !(x == y))
__TRINE_COMPARE__(leu, !(x > y))
__TRINE_COMPARE__(geu, !(x < y))
__TRINE_COMPARE__(ltu, !(x >= y))
__TRINE_COMPARE__(gtu, !(x <= y))
#undef __TRINE_COMPARE__
__TRINE_HD__ bool __hisnan(__TRINE_N__ a) { return trine_math::isnan(__TRINE_W__(a)); }
__TRINE_HD__ int __hisinf(__TRINE_N__ a) {
  const float x = __TRINE_W__(a);
  return trine_math::isinf(x) ? (x < 0.0f ? -1 : 1) : 0;
}
__TRINE_HD__ __TRINE_N2__ __hisnan2(__TRINE_N2__ a) {
  return {__TRINE_R__(__hisnan(a.x) ? 1.0f : 0.0f), __TRINE_R__(__hisnan(a.y) ? 1.0f : 0.0f)};
}

// Beside a NaN the number, or with _nan the NaN.
__TRINE_EACH__(__hmin, __TRINE_R__(trine_math::fmin(__TRINE_W__(a), __TRINE_W__(b))))
__TRINE_EACH__(__hmax, __TRINE_R__(trine_math::fmax(__TRINE_W__(a), __TRINE_W__(b))))
__TRINE_BINARY__(__hmin_nan, __hisnan(a) || __hisnan(b) ? __trine_nan(a) : __hmin(a, b))
__TRINE_BINARY__(__hmax_nan, __hisnan(a) || __hisnan(b) ? __trine_nan(a) : __hmax(a, b))
__TRINE_HD__ __TRINE_N2__ __hmin2_nan(__TRINE_N2__ a, __TRINE_N2__ b) {
  return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
}
__TRINE_HD__ __TRINE_N2__ __hmax2_nan(__TRINE_N2__ a, __TRINE_N2__ b) {
  return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
}

// Functions: those of float, rounded once more.
#define __TRINE_FUNCTION__(name, function)                                                                      \
  __TRINE_HD__ __TRINE_N__ h##name(__TRINE_N__ a) { return __TRINE_R__(trine_math::function(__TRINE_W__(a))); } \
  __TRINE_HD__ __TRINE_N2__ h2##name(__TRINE_N2__ a) { return {h##name(a.x), h##name(a.y)}; }
__TRINE_FUNCTION__(exp, exp)
__TRINE_FUNCTION__(exp2, exp2)
__TRINE_FUNCTION__(exp10, exp10)
__TRINE_FUNCTION__(log, log)
__TRINE_FUNCTION__(log2, log2)
__TRINE_FUNCTION__(log10, log10)
__TRINE_FUNCTION__(sin, sin)
__TRINE_FUNCTION__(cos, cos)
__TRINE_FUNCTION__(tanh, tanh)
__TRINE_FUNCTION__(sqrt, sqrt)
__TRINE_FUNCTION__(rsqrt, rsqrt)
__TRINE_FUNCTION__(floor, floor)
__TRINE_FUNCTION__(ceil, ceil)
__TRINE_FUNCTION__(trunc, trunc)
__TRINE_FUNCTION__(rint, rint)
#undef __TRINE_FUNCTION__
__TRINE_HD__ __TRINE_N__ hrcp(__TRINE_N__ a) { return __TRINE_R__(1.0f / __TRINE_W__(a)); }
__TRINE_HD__ __TRINE_N2__ h2rcp(__TRINE_N2__ a) { return {hrcp(a.x), hrcp(a.y)}; }
__TRINE_HD__ __TRINE_N__ htanh_approx(__TRINE_N__ a) { return htanh(a); }
__TRINE_HD__ __TRINE_N2__ h2tanh_approx(__TRINE_N2__ a) { return h2tanh(a); }

// Operators
#define __TRINE_OPERATOR__(sign, one, two)                                                                      \
  __TRINE_HD__ __TRINE_N__ operator sign(const __TRINE_N__& a, const __TRINE_N__& b) { return one(a, b); }      \
  __TRINE_HD__ __TRINE_N2__ operator sign(const __TRINE_N2__& a, const __TRINE_N2__& b) { return two(a, b); }   \
  __TRINE_HD__ __TRINE_N__& operator sign## = (__TRINE_N__ & a, const __TRINE_N__& b) { return a = one(a, b); } \
  __TRINE_HD__ __TRINE_N2__& operator sign## = (__TRINE_N2__ & a, const __TRINE_N2__& b) { return a = two(a, b); }
__TRINE_OPERATOR__(+, __hadd, __hadd2)
__TRINE_OPERATOR__(-, __hsub, __hsub2)
__TRINE_OPERATOR__(*, __hmul, __hmul2)
__TRINE_OPERATOR__(/, __hdiv, __h2div)
#undef __TRINE_OPERATOR__
#define __TRINE_OPERATOR__(sign, one, two)                                                          \
  __TRINE_HD__ bool operator sign(const __TRINE_N__& a, const __TRINE_N__& b) { return one(a, b); } \
  __TRINE_HD__ bool operator sign(const __TRINE_N2__& a, const __TRINE_N2__& b) { return two(a, b); }
__TRINE_OPERATOR__(==, __heq, __hbeq2)
__TRINE_OPERATOR__(!=, __hneu, __hbneu2)
__TRINE_OPERATOR__(<, __hlt, __hblt2)
__TRINE_OPERATOR__(>, __hgt, __hbgt2)
__TRINE_OPERATOR__(<=, __hle, __hble2)
__TRINE_OPERATOR__(>=, __hge, __hbge2)
#undef __TRINE_OPERATOR__
__TRINE_HD__ __TRINE_N__ operator+(const __TRINE_N__& a) { return a; }
__TRINE_HD__ __TRINE_N__ operator-(const __TRINE_N__& a) { return __hneg(a); }
__TRINE_HD__ __TRINE_N2__ operator+(const __TRINE_N2__& a) { return a; }
__TRINE_HD__ __TRINE_N2__ operator-(const __TRINE_N2__& a) { return __hneg2(a); }
#define __TRINE_STEP__(type, sign, one)                                      \
  __TRINE_HD__ type& operator sign##sign(type& a) { return a = a sign one; } \
  __TRINE_HD__ type operator sign##sign(type& a, int) {                      \
    const type before = a;                                                   \
    a = a sign one;                                                          \
    return before;                                                           \
  }
__TRINE_STEP__(__TRINE_N__, +, __TRINE_N__(1.0f))
__TRINE_STEP__(__TRINE_N__, -, __TRINE_N__(1.0f))
__TRINE_STEP__(__TRINE_N2__, +, __TRINE_N2__(__TRINE_N__(1.0f), __TRINE_N__(1.0f)))
__TRINE_STEP__(__TRINE_N2__, -, __TRINE_N2__(__TRINE_N__(1.0f), __TRINE_N__(1.0f)))
#undef __TRINE_STEP__

// Conversions in a given rounding, to and from whole numbers. What is too large gives the nearest end; NaN gives 0.
#define __TRINE_ROUND__(suffix, mode)                        \
  __TRINE_WHOLE__(int, int, suffix, mode)                    \
  __TRINE_WHOLE__(uint, unsigned, suffix, mode)              \
  __TRINE_WHOLE__(ll, long long, suffix, mode)               \
  __TRINE_WHOLE__(ull, unsigned long long, suffix, mode)     \
  __TRINE_SMALL__(short, short, -32768, 32767, suffix, mode) \
  __TRINE_SMALL__(ushort, unsigned short, 0, 65535, suffix, mode)
#define __TRINE_FROM_WHOLE__(word, type, suffix, mode)                                        \
  __TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__##word##2, __TRINE_S__, _##suffix)(type a) {      \
    return __trine_round<trine_math::Round::mode>(trine_math::odd_integer(a), __TRINE_N__()); \
  }
#define __TRINE_WHOLE__(word, type, suffix, mode)                                                         \
  __TRINE_HD__ type __TRINE_NAME__(__, __TRINE_S__, 2##word##_##suffix)(__TRINE_N__ a) {                  \
    return __hisnan(a) ? (type)0 : trine_math::to_integer<type, trine_math::Round::mode>(__TRINE_W__(a)); \
  }                                                                                                       \
  __TRINE_FROM_WHOLE__(word, type, suffix, mode)
#define __TRINE_INTO_SMALL__(word, type, least, most, suffix, mode)                      \
  __TRINE_HD__ type __TRINE_NAME__(__, __TRINE_S__, 2##word##_##suffix)(__TRINE_N__ a) { \
    const int v = trine_math::to_integer<int, trine_math::Round::mode>(__TRINE_W__(a));  \
    return (type)(v < least ? least : v > most ? most : v);                              \
  }
#define __TRINE_SMALL__(word, type, least, most, suffix, mode) \
  __TRINE_INTO_SMALL__(word, type, least, most, suffix, mode)  \
  __TRINE_FROM_WHOLE__(word, type, suffix, mode)
__TRINE_ROUND__(rn, nearest)
__TRINE_ROUND__(rz, zero)
__TRINE_ROUND__(ru, up)
__TRINE_ROUND__(rd, down)
__TRINE_INTO_SMALL__(char, signed char, -128, 127, rz, zero)
__TRINE_INTO_SMALL__(uchar, unsigned char, 0, 255, rz, zero)
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__float2, __TRINE_S__, _rz)(float a) {
  return __trine_round<trine_math::Round::zero>(a, __TRINE_N__());
}
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__float2, __TRINE_S__, _ru)(float a) {
  return __trine_round<trine_math::Round::up>(a, __TRINE_N__());
}
__TRINE_HD__ __TRINE_N__ __TRINE_NAME__(__float2, __TRINE_S__, _rd)(float a) {
  return __trine_round<trine_math::Round::down>(a, __TRINE_N__());
}
#undef __TRINE_ROUND__
#undef __TRINE_FROM_WHOLE__
#undef __TRINE_WHOLE__
#undef __TRINE_SMALL__
#undef __TRINE_INTO_SMALL__

#ifdef __CUDA__
// Shuffles move bits.
#define __TRINE_MOVE__(name, lane_type)                                                                     \
  __TRINE_DEVICE__ __TRINE_N__ name(unsigned mask, __TRINE_N__ a, lane_type lane, int width = warpSize) {   \
    const unsigned bits = name(mask, (unsigned)__builtin_bit_cast(unsigned short, a), lane, width);         \
    return __builtin_bit_cast(__TRINE_N__, (unsigned short)bits);                                           \
  }                                                                                                         \
  __TRINE_DEVICE__ __TRINE_N2__ name(unsigned mask, __TRINE_N2__ a, lane_type lane, int width = warpSize) { \
    return __builtin_bit_cast(__TRINE_N2__, name(mask, __builtin_bit_cast(unsigned, a), lane, width));      \
  }
__TRINE_MOVE__(__shfl_sync, int)
__TRINE_MOVE__(__shfl_up_sync, unsigned)
__TRINE_MOVE__(__shfl_down_sync, unsigned)
__TRINE_MOVE__(__shfl_xor_sync, int)
#undef __TRINE_MOVE__

// A pair is not added in one piece, only each of its elements is; here it happens to be.
#define __TRINE_ATOMIC__(suffix)                                                                           \
  __TRINE_DEVICE__ __TRINE_N__ atomicAdd##suffix(__TRINE_N__* address, __TRINE_N__ value) {                \
    unsigned short seen = *(volatile unsigned short*)address, before;                                      \
    do {                                                                                                   \
      before = seen;                                                                                       \
      const __TRINE_N__ sum = __trine_add(__builtin_bit_cast(__TRINE_N__, before), value);                 \
      seen = atomicCAS##suffix((unsigned short*)address, before, __builtin_bit_cast(unsigned short, sum)); \
    } while (seen != before);                                                                              \
    return __builtin_bit_cast(__TRINE_N__, before);                                                        \
  }                                                                                                        \
  __TRINE_DEVICE__ __TRINE_N2__ atomicAdd##suffix(__TRINE_N2__* address, __TRINE_N2__ value) {             \
    unsigned seen = *(volatile unsigned*)address, before;                                                  \
    do {                                                                                                   \
      before = seen;                                                                                       \
      const __TRINE_N2__ sum = __trine_add2(__builtin_bit_cast(__TRINE_N2__, before), value);              \
      seen = atomicCAS##suffix((unsigned*)address, before, __builtin_bit_cast(unsigned, sum));             \
    } while (seen != before);                                                                              \
    return __builtin_bit_cast(__TRINE_N2__, before);                                                       \
  }
__TRINE_ATOMIC__()
__TRINE_ATOMIC__(_block)
__TRINE_ATOMIC__(_system)
#undef __TRINE_ATOMIC__
#endif

#undef __TRINE_PASTE__
#undef __TRINE_NAME__
#undef __TRINE_W__
#undef __TRINE_R__
#undef __TRINE_BINARY__
#undef __TRINE_BOTH__
#undef __TRINE_EACH__
#undef __TRINE_PACKED__
