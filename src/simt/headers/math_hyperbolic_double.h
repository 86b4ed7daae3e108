// Hyperbolic functions of double and their inverses. Bounds in ulp: sinh 2, cosh 1, tanh 1, asinh 3, acosh 3, atanh 2.
#pragma once

#include "math_exp_double.h"
#include "math_log_double.h"

namespace trine_math {

// e^a / 2 as a pair, and 1 / (4 of it) = e^-a / 2.
struct HalfExp {
  double hi, lo, inverse;
};
TRINE_MATH HalfExp half_exp(double a) {
  const Scaled e = exp_parts(a > 712.0 ? 712.0 : a, 0.0);
  const double hi = scale(e.hi, e.n - 1);
  return {hi, isinf(hi) ? 0.0 : scale(e.lo, e.n - 1), 0.25 / hi};
}
TRINE_MATH double sinh(double x) {
  const double a = fabs(x), z = x * x;
  const double near =
      fma(x * z,
          poly(z, 0.16666666666666666, 0.008333333333333519, 0.00019841269841133232, 2.755731927390287e-06,
               2.5052098350165263e-08, 1.6060174315015305e-10, 7.580157504091655e-13, 4.448995073979302e-15),
          x);
  const HalfExp e = half_exp(a);
  const double far = e.hi + (e.lo - e.inverse);
  return copysign(a < 1.0 ? near : isnan(x) ? x : far, x);
}
TRINE_MATH double cosh(double x) {
  const HalfExp e = half_exp(fabs(x));
  const Pair<double> s = fast_two_sum(e.hi, e.inverse);
  return isinf(e.hi) ? e.hi : s.hi + (s.lo + e.lo);
}
TRINE_MATH double tanh(double x) {
  const double a = fabs(x), z = x * x;
  const double near =
      fma(x * z,
          poly(z, -0.3333333333333333, 0.13333333333332936, -0.0539682539679545, 0.02186948852477651,
               -0.008863235275602696, 0.0035921244049339504, -0.001455799651065145, 0.0005897993771312205,
               -0.00023809369391418575, 9.369480811465161e-05, -3.2612698808229556e-05, 7.24884529324019e-06),
          x);
  const double inside = a > 20.0 ? 20.0 : a;
  const Scaled e = exp_parts(inside + inside, 0.0);
  const Pair<double> below = add(Pair<double>{scale(e.hi, e.n), scale(e.lo, e.n)}, 1.0);
  const Pair<double> q = div(Pair<double>{2.0, 0.0}, below);
  const double far = (1.0 - q.hi) - q.lo;
  return copysign(a < 0.56 ? near : isnan(x) ? x : far, x);
}

TRINE_MATH double asinh(double x) {
  const double a = fabs(x);
  const bool large = a > 0x1p40;
  const double inside = large ? 1.0 : a;
  const double y = log1p(fma(inside, inside / (1.0 + sqrt(fma(inside, inside, 1.0))), inside));
  const double big = log(a) + 0.6931471805599453;
  return copysign(large ? big : isnan(x) ? x : y, x);
}
TRINE_MATH double acosh(double x) {
  const double t = x - 1.0;
  const bool large = x > 0x1p40;
  const double inside = large ? 1.0 : t;
  const double y = log1p(inside + sqrt(fma(inside, inside, inside + inside)));
  return large ? log(x) + 0.6931471805599453 : x < 1.0 ? quiet_nan<double>() : y;
}
TRINE_MATH double atanh(double x) {
  const double a = fabs(x);
  const double y = 0.5 * log1p((a + a) / (1.0 - a));
  return a > 1.0 ? quiet_nan<double>() : copysign(a < 1e-9 ? a : y, x);
}

}  // namespace trine_math
