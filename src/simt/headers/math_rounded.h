// Arithmetic rounded to nearest, towards zero, up or down. The result to nearest and the sign of what it lacks decide:
// no rounding mode of the machine is touched. Exact for all arguments.
#pragma once

#include "math_basic.h"

namespace trine_math {

enum class Round { nearest, zero, up, down };

// y, the nearest to some number, moved to the other side of it where `kRound` asks; `lacks` has the sign of that number
// minus y.
template <Round kRound, class T>
TRINE_MATH T settle(T y, T lacks) {
  const bool above = lacks<T(0), below = lacks> T(0);
  if constexpr (kRound == Round::up) return below ? next_up(y) : y;
  if constexpr (kRound == Round::down) return above ? next_down(y) : y;
  if constexpr (kRound == Round::zero) {
    const bool negative = signbit(y);
    return negative && below ? next_up(y) : !negative && above ? next_down(y) : y;
  }
  return y;
}

// As `lacks`, but for infinite results: of finite arguments they are too large.
template <class T>
TRINE_MATH T lacks_of(T y, T lacks, bool finite_arguments) {
  return isinf(y) ? (finite_arguments ? -y : T(0)) : lacks;
}

// A double that stands for itself plus a rest of the sign of `lacks`: its last bit is made odd. Rounding it to fewer
// than 52 bits gives what rounding the exact number gives.
TRINE_MATH double to_odd(double y, double lacks) {
  const bool inexact = lacks < 0.0 || lacks > 0.0, even = (to_bits(y) & 1) == 0;
  const bool away = (lacks > 0.0) != signbit(y);
  return from_bits(inexact && even && isfinite(y) ? to_bits(y) + (away ? 1u : ~u64(0)) : to_bits(y));
}
template <Round kRound>
TRINE_MATH float narrow(double x) {
  const float y = static_cast<float>(x);
  const double wide = y;
  return settle<kRound>(y, x > wide ? 1.0f : x < wide ? -1.0f : 0.0f);
}

// An exact sum of zero is -0 when rounded down, unless both terms are +0.
template <Round kRound, class T>
TRINE_MATH T zero_sum(T sum, T a, T b) {
  if constexpr (kRound == Round::down) return sum == T(0) && (signbit(a) || signbit(b)) ? -T(0) : sum;
  return sum;
}

template <Round kRound>
TRINE_MATH float add_rounded(float a, float b) {
  if constexpr (kRound == Round::nearest) return a + b;
  const Pair<double> s = two_sum<double>(a, b);
  return zero_sum<kRound>(narrow<kRound>(to_odd(s.hi, s.lo)), a, b);
}
template <Round kRound>
TRINE_MATH float mul_rounded(float a, float b) {
  if constexpr (kRound == Round::nearest) return a * b;
  return narrow<kRound>(static_cast<double>(a) * b);
}
template <Round kRound>
TRINE_MATH float div_rounded(float a, float b) {
  if constexpr (kRound == Round::nearest) return a / b;
  const double wide = b, q = static_cast<double>(a) / wide;
  return narrow<kRound>(to_odd(q, mulsign(fma(-q, wide, static_cast<double>(a)), wide)));
}
template <Round kRound>
TRINE_MATH float sqrt_rounded(float a) {
  if constexpr (kRound == Round::nearest) return sqrt(a);
  const double s = sqrt(static_cast<double>(a));
  return narrow<kRound>(to_odd(s, fma(-s, s, static_cast<double>(a))));
}
template <Round kRound>
TRINE_MATH float fma_rounded(float a, float b, float c) {
  if constexpr (kRound == Round::nearest) return fma(a, b, c);
  const double p = static_cast<double>(a) * b;
  const Pair<double> s = two_sum<double>(p, c);
  return s.hi == 0.0 ? static_cast<float>(zero_sum<kRound>(s.hi, p, static_cast<double>(c)))
                     : narrow<kRound>(to_odd(s.hi, s.lo));
}

// x by, but for x so small that it only counts by its sign.
TRINE_MATH double lower(double x, double by) {
  return by < 1.0 && x != 0.0 && fabs(x) < 0x1p-300 ? copysign(0x1p-300, x) : x * by;
}
template <Round kRound>
TRINE_MATH double add_rounded(double a, double b) {
  if constexpr (kRound == Round::nearest) return a + b;
  const double s = a + b, by = max_number(fabs(a), fabs(b)) > 0x1p1000 ? 0.25 : 1.0;  // two_sum must not overflow
  const double lacks = two_sum(lower(a, by), lower(b, by)).lo;
  return zero_sum<kRound>(settle<kRound>(s, lacks_of(s, lacks, isfinite(a) && isfinite(b))), a, b);
}

// Powers of two that take tiny products back among normal numbers, so that fma sees every bit.
TRINE_MATH double raise_of(double x) { return fabs(x) < 1.0 ? 0x1p537 : 1.0; }

template <Round kRound>
TRINE_MATH double mul_rounded(double a, double b) {
  if constexpr (kRound == Round::nearest) return a * b;
  const double p = a * b, ra = raise_of(a), rb = raise_of(b);
  const bool tiny = fabs(p) < 0x1p-400;
  const double lacks = tiny ? fma(a * ra, b * rb, -(p * ra * rb)) : fma(a, b, -p);
  return settle<kRound>(p, lacks_of(p, lacks, isfinite(a) && isfinite(b)));
}
template <Round kRound>
TRINE_MATH double div_rounded(double a, double b) {
  if constexpr (kRound == Round::nearest) return a / b;
  const double q = a / b, up = fabs(a) < 0x1p-400 ? 0x1p537 : 1.0;
  const bool raise_b = fabs(q) > 1.0;
  const double lacks = mulsign(fma(raise_b ? -q : -q * up, raise_b ? b * up : b, a * up), b);
  return settle<kRound>(q, lacks_of(q, lacks, isfinite(a) && b != 0.0));
}
template <Round kRound>
TRINE_MATH double sqrt_rounded(double a) {
  if constexpr (kRound == Round::nearest) return sqrt(a);
  const double s = sqrt(a);
  const bool tiny = a < 0x1p-600;
  const double r = tiny ? s * 0x1p300 : s;
  return settle<kRound>(s, fma(-r, r, tiny ? a * 0x1p600 : a));
}

// The error of an fma is a sum of two numbers (Boldo and Muller); the larger has its sign.
TRINE_MATH double fma_lacks(double a, double b, double c, double y) {
  const Pair<double> p = two_product(a, b), low = two_sum(c, p.lo), high = two_sum(p.hi, low.hi);
  return fast_two_sum((high.hi - y) + high.lo, low.lo).hi;
}
template <Round kRound>
TRINE_MATH double fma_rounded(double a, double b, double c) {
  const double y = fma(a, b, c);
  if constexpr (kRound == Round::nearest) return y;
  const double p = a * b;
  // All of it raised or lowered by 2^600: nothing that decides falls below the normal numbers or above them. A product
  // or a term so small that it would only counts by its sign.
  const double size = max_number(fabs(p), fabs(c));
  const double by = size < 0x1p-300 ? 0x1p600 : size > 0x1p600 ? 0x1p-600 : 1.0;
  const bool a_smaller = fabs(a) < fabs(b);
  const bool on_a = by > 1.0 ? a_smaller : !a_smaller;
  const double x = on_a ? a * by : a, z = on_a ? b : b * by;
  const double term = lower(c, by);
  const bool dust = fabs(x * z) < 0x1p-900;
  const double sign = a != 0.0 && b != 0.0 ? mulsign(copysign(1.0, a), b) : 0.0;
  const double lacks = dust ? sign : fma_lacks(x, z, term, y * by);
  if (y == 0.0 && lacks == 0.0) return zero_sum<kRound>(y, p, c);
  return settle<kRound>(y, lacks_of(y, lacks, isfinite(a) && isfinite(b) && isfinite(c)));
}

}  // namespace trine_math
