// Logarithms and pow of double, from one logarithm as a pair. Bounds in ulp: log, log2, log10, log1p 1; pow 1.
#pragma once

#include "math_exp_double.h"
#include "math_log_float.h"
#include "math_pow_float.h"

namespace trine_math {

// log(hi + lo) of a positive finite number, to 2^-66. With m = x 2^-e in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m +
// 1): log(m) = 2 (s + s^3 (1/3 + s^2 ...)), where s and what follows it up to 1/3 are pairs.
TRINE_MATH Pair<double> log_parts(double hi, double lo) {
  const bool tiny = hi < 0x1p-1022;
  const u64 bits = to_bits(tiny ? hi * 0x1p54 : hi);
  const u64 exponent = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
  const double m = from_bits(bits - exponent);
  const i32 n = static_cast<i32>(static_cast<u32>(exponent >> 32)) >> 20;
  const double e = static_cast<double>(n) - (tiny ? 54.0 : 0.0), m_lo = tiny ? 0.0 : scale(lo, -n);
  const Pair<double> below = two_sum(1.0, m), above = two_sum(m - 1.0, m_lo);
  const double s = above.hi / below.hi;
  const double rest = (fma(-s, below.hi, above.hi) + (above.lo - s * (below.lo + m_lo))) / below.hi;
  const Pair<double> square = two_product(s, s);
  const double square_lo = fma(s + s, rest, square.lo);
  const double q = square.hi * poly(square.hi, 0.2, 0.14285714285713552, 0.11111111111306644, 0.09090909062851256,
                                    0.0769231010734737, 0.06666536447844708, 0.058867661130765844, 0.05172637825278434,
                                    0.05769515386359338);
  const Pair<double> c = fast_two_sum(0.3333333333333333, q);
  const Pair<double> third = {c.hi, c.lo + 1.850371707708594e-17};
  const Pair<double> tail = mul(mul(Pair<double>{square.hi, square_lo}, Pair<double>{s, rest}), third);
  Pair<double> half = fast_two_sum(s, tail.hi);
  half.lo += tail.lo + rest;
  const Pair<double> high = two_product(e, 0.6931471805599453);
  const Pair<double> sum = fast_two_sum(high.hi, half.hi + half.hi);
  return fast_two_sum(sum.hi, sum.lo + (high.lo + fma(e, 2.3190468138462996e-17, half.lo + half.lo)));
}

TRINE_MATH double log(double x) { return log_edges(x, log_parts(x, 0.0).hi); }
TRINE_MATH double log2(double x) {
  return log_edges(x, mul(log_parts(x, 0.0), Pair<double>{1.4426950408889634, 2.0355273740931033e-17}).hi);
}
TRINE_MATH double log10(double x) {
  return log_edges(x, mul(log_parts(x, 0.0), Pair<double>{0.4342944819032518, 1.098319650216765e-17}).hi);
}
TRINE_MATH double log1p(double x) {
  const Pair<double> u = two_sum(1.0, x);
  const double y = log_edges(u.hi, log_parts(u.hi, u.lo).hi);
  return fabs(x) < 0x1p-54 ? x : y;
}

TRINE_MATH double pow(double x, double y) {
  const Pair<double> l = log_parts(fabs(x), 0.0);
  const double hi = l.hi * y, lo = fma(l.hi, y, -hi) + l.lo * y;
  const bool over = hi > 760.0, under = hi < -760.0;
  const Scaled e = exp_parts(over ? 760.0 : under ? -760.0 : hi, over || under ? 0.0 : lo);
  return pow_edges(x, y, scale(e.hi, e.n));
}

}  // namespace trine_math
