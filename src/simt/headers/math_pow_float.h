// pow of float: e^(y log |x|) with the logarithm as a pair of floats, good to 2^-38 relative.
// Bound in ulp: 2.
#pragma once

#include "math_basic.h"
#include "math_exp_float.h"

namespace trine_math {

// log(x) of a positive finite x. s = (m - 1) / (m + 1), log(m) = 2 s + 2 s^3 (1/3 + s^2 ...).
TRINE_MATH Pair<float> log_for_pow(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const u32 bits = to_bits(tiny ? x * 16777216.0f : x);
  const u32 exponent = (bits - 0x3f3504f3u) & 0xff800000u;  // m in [sqrt(1/2), sqrt(2))
  const float m = from_bits(bits - exponent);
  const float e = static_cast<float>(static_cast<i32>(exponent) >> 23) - (tiny ? 24.0f : 0.0f);
  const Pair<float> below = fast_two_sum(1.0f, m);
  const float above = m - 1.0f;  // exact
  const float s = above / below.hi;
  const float rest = (fma(-s, below.hi, above) - s * below.lo) / below.hi;
  const Pair<float> square = two_product(s, s);
  const float square_lo = fma(s + s, rest, square.lo);
  // log(m) / 2 - s = s^3 (1/3 + s^2 q)
  const float q = square.hi * poly(square.hi, 0.20000078f, 0.14273398f, 0.11713299f);
  const Pair<float> c = fast_two_sum(0.333333343f, q);
  const Pair<float> third = {c.hi, c.lo - 9.93410776e-9f};
  const Pair<float> cube = mul(Pair<float>{square.hi, square_lo}, Pair<float>{s, rest});
  const Pair<float> tail = mul(cube, third);
  Pair<float> half = fast_two_sum(s, tail.hi);
  half.lo += tail.lo + rest;
  const Pair<float> high = two_product(e, 0.693147182f);
  const Pair<float> sum = fast_two_sum(high.hi, half.hi + half.hi);
  return fast_two_sum(sum.hi, sum.lo + (high.lo + fma(e, -1.90465421e-9f, half.lo + half.lo)));
}

// Is y a whole number; if so, is it odd.
template <class T>
TRINE_MATH bool is_whole(T y) {
  return trunc(y) == y;
}
template <class T>
TRINE_MATH bool is_odd(T y) {
  return is_whole(y) && !is_whole(y * T(0.5)) && isfinite(y);
}

// Annex F of ISO C for the edges; `result` is |x|^y of ordinary arguments.
template <class T>
TRINE_MATH T pow_edges(T x, T y, T result) {
  const T magnitude = fabs(x), inf = infinity<T>();
  const bool odd = is_odd(y);
  result = magnitude == T(0) || magnitude == inf ? ((magnitude == T(0)) == (y > T(0)) ? T(0) : inf) : result;
  result = isinf(y) ? ((magnitude > T(1)) == (y > T(0)) ? inf : T(0)) : result;
  result = isinf(y) && magnitude == T(1) ? T(1) : result;
  result = signbit(x) && odd ? -result : result;
  result = x < T(0) && magnitude != inf && isfinite(y) && !is_whole(y) ? quiet_nan<T>() : result;
  result = isnan(x) || isnan(y) ? x + y : result;
  return x == T(1) || y == T(0) ? T(1) : result;
}

TRINE_MATH float pow(float x, float y) {
  const Pair<float> l = log_for_pow(fabs(x));
  const float hi = l.hi * y;
  const float lo = fma(l.hi, y, -hi) + l.lo * y;
  const bool over = hi > 105.0f, under = hi < -105.0f;
  const float result = exp_of_pair(over ? 105.0f : under ? -105.0f : hi, over || under ? 0.0f : lo);
  return pow_edges(x, y, result);
}

}  // namespace trine_math
