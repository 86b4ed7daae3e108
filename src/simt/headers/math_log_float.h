// Logarithms of float: x = 2^e m with m in [2/3, 4/3), log(m) = f - f^2/2 + f^3 P(f) of f = m - 1.
// Bounds in ulp: log 1, log2 1, log10 2, log1p 1.
#pragma once

#include "math_base.h"

namespace trine_math {

// The exponent and f = m - 1 of a positive normal x.
TRINE_MATH float split_for_log(float x, float* e) {
  const u32 bits = to_bits(x);
  const u32 exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  *e = static_cast<float>(static_cast<i32>(exponent) >> 23);
  return from_bits(bits - exponent) - 1.0f;
}

// (log(1 + f) - f + f^2/2) / f^3 on |f| <= 1/3.
TRINE_MATH float log_tail(float f) {
  return poly(f, 0.33333215f, -0.24999797f, 0.2001045f, -0.16680509f, 0.14005183f, -0.12183892f, 0.139877f,
              -0.12893544f);
}

// What logarithms are of arguments without one: y for ordinary x.
template <class T>
TRINE_MATH T log_edges(T x, T y) {
  y = x < T(0) ? quiet_nan<T>() : y;
  y = x == T(0) ? -infinity<T>() : y;
  return x == infinity<T>() || isnan(x) ? x + x : y;
}

// Where e is not 0 the result is over 0.28, so that 2e-9 less than log(2) for e log(2) matters little.
TRINE_MATH float log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const u32 bits = to_bits(tiny ? x * 8388608.0f : x), exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  const float e = fma(static_cast<float>(static_cast<i32>(exponent)), 0x1p-23f, tiny ? -23.0f : 0.0f);
  const float f = from_bits(bits - exponent) - 1.0f;
  const float y = fma(e, 0.693147182f, fma(f * f, fma(f, log_tail(f), -0.5f), f));
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) {  // one comparison for infinity, NaN and what has a sign: the fma is infinity or NaN
    const float odd = bits >= 0x7f800000u ? fma(x, infinity<float>(), infinity<float>()) : y;
    return x == 0.0f ? -infinity<float>() : odd;
  }
#endif
  return log_edges(x, y);
}

// log(m) as a pair: f^2/2 exactly, the rest of the series rounded.
TRINE_MATH Pair<float> log_pair(float f) {
  const Pair<float> square = two_product(f, f);
  const Pair<float> head = fast_two_sum(f, -0.5f * square.hi);
  const float tail = fma(square.hi * f, log_tail(f), -0.5f * square.lo);
  return fast_two_sum(head.hi, head.lo + tail);
}

// e a + (hi + lo) (b_hi + b_lo): the logarithm to another base, where 1 = log(base) (b_hi + b_lo) and a = log 2.
TRINE_MATH float log2(float x) {
  const bool tiny = x < 1.17549435e-38f;
  float e;
  const float f = split_for_log(tiny ? x * 8388608.0f : x, &e);
  e = tiny ? e - 23.0f : e;
  const Pair<float> y = mul(log_pair(f), Pair<float>{1.44269502f, 1.92596303e-8f});
  const Pair<float> s = fast_two_sum(e, y.hi);
  return log_edges(x, s.hi + (s.lo + y.lo));
}

TRINE_MATH float log10(float x) {
  const bool tiny = x < 1.17549435e-38f;
  float e;
  const float f = split_for_log(tiny ? x * 8388608.0f : x, &e);
  e = tiny ? e - 23.0f : e;
  const Pair<float> y = mul(log_pair(f), Pair<float>{0.434294492f, -1.010305e-8f});
  const Pair<float> s = fast_two_sum(e * 0.301025391f, y.hi);  // e times 12 bits is exact
  return log_edges(x, s.hi + fma(e, 4.60503907e-6f, s.lo + y.lo));
}

// 1 + x = 2^e m with m in [3/4, 3/2); f = x 2^-e + (2^-e - 1) is exact but for x that 1 + x drowns.
TRINE_MATH float log1p(float x) {
  const float u = 1.0f + x;
  const bool huge = x > 1e30f;
  const u32 exponent = (to_bits(huge ? 1.0f : u) - 0x3f400000u) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(exponent) >> 23);
  const float down = from_bits(0x3f800000u - exponent);
  const float f = huge ? 0.0f : fma(x, down, down - 1.0f);
  const float tail = poly(f, 0.3333334f, -0.2500017f, 0.19999592f, -0.16655073f, 0.14275955f, -0.12730083f, 0.11707772f,
                          -0.09121382f, 0.037663233f);
  float r = fma(f * f, fma(f, tail, -0.5f), f);
  r = fma(e, 0.693147182f, fma(e, -1.90465421e-9f, r));
  r = huge ? log(x) : r;
  r = x == 0.0f ? x : r;  // keeps -0
  return log_edges(u, r);
}

}  // namespace trine_math
