// Exponentials of double, as those of float. Bounds in ulp: exp 1, exp2 1, exp10 1, expm1 1.
#pragma once

#include "math_base.h"

namespace trine_math {

// (hi + lo) 2^n.
struct Scaled {
  double hi, lo;
  i32 n;
};

// e^(hi + lo) of |hi| < 1000, good to 2^-57.
TRINE_MATH Scaled exp_parts(double hi, double lo) {
  Scaled y;
  const double f = round_product(hi, 1.4426950408889634, &y.n);
  const double whole = fma(f, -0.6931471805598903, hi);  // exact: the constant has 42 bits
  const Pair<double> r = fast_two_sum(whole, fma(f, -5.497923018708371e-14, lo));
  const double p = poly(r.hi, 0.5000000000000011, 0.16666666666666424, 0.04166666666652705, 0.008333333333487052,
                        0.0013888888944313675, 0.0001984126952246475, 2.480149248278633e-05, 2.755757229290872e-06,
                        2.763044448084269e-07, 2.500448964385787e-08);
  const Pair<double> head = fast_two_sum(1.0, r.hi);
  const Pair<double> sum = fast_two_sum(head.hi, head.lo + (fma(r.hi * r.hi, p, r.lo) + r.hi * r.lo));
  y.hi = sum.hi;
  y.lo = sum.lo;
  return y;
}

// As for float.
TRINE_MATH double exp_fraction(double hi, double lo, i32* n) {
  const Scaled y = exp_parts(hi, lo);
  *n = y.n;
  return y.hi;
}

TRINE_MATH double exp(double x) {
  const Scaled y = exp_parts(x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x, 0.0);
  return scale(y.hi, y.n);
}

TRINE_MATH double exp2(double x) {
  const double inside = x > 1025.0 ? 1025.0 : x < -1076.0 ? -1076.0 : x;
  i32 n;
  const double r = inside - round_product(inside, 1.0, &n);
  return scale(poly(r, 1.0, 0.6931471805599453, 0.24022650695910067, 0.05550410866482293, 0.009618129107630808,
                    0.0013333558146165797, 0.00015403530389353974, 1.5252734035934284e-05, 1.3215489902571105e-06,
                    1.0177985828189344e-07, 7.053801720458395e-09, 4.465532105008711e-10, 2.7183786700917045e-11),
               n);
}

TRINE_MATH double exp10(double x) {
  const double inside = x > 309.0 ? 309.0 : x < -324.0 ? -324.0 : x;
  i32 n;
  const double f = round_product(inside, 3.321928094887362, &n);
  const double r = fma(f, -2.8363394551044964e-14, fma(f, -0.30102999566395283, inside));
  return scale(poly(r, 1.0, 2.302585092994046, 2.6509490552392, 2.034678592293345, 1.171255148911616,
                    0.5393829292213591, 0.20699584882538757, 0.06808936289524911, 0.019597683437611202,
                    0.00501400854868296, 0.0011549437499317294, 0.00024082399683951375, 3.983596412779837e-05),
               n);
}

// As for float.
TRINE_MATH double expm1(double x) {
  const double inside = x > 709.9 ? 709.9 : x < -40.0 ? -40.0 : x;
  i32 n;
  const double f = round_product(inside, 1.4426950408889634, &n);
  const Pair<double> r = fast_two_sum(fma(f, -0.6931471805598903, inside), f * -5.497923018708371e-14);
  const double tail = r.hi * r.hi *
                      poly(r.hi, 0.5, 0.16666666666666677, 0.04166666666666661, 0.008333333333321468,
                           0.0013888888888923792, 0.00019841269886462342, 2.480158723751735e-05, 2.7557243923984232e-06,
                           2.755735298005266e-07, 2.5109122786422925e-08, 2.0889440198090774e-09);
  const Pair<double> p = fast_two_sum(r.hi, tail + r.lo);
  const double half = exp2_normal(0.0, n - 1);
  const double less = half - 0.5, lacks = (half - less) - 0.5;
  const Pair<double> sum = fast_two_sum(less, half * p.hi);
  const double y = sum.hi + (fma(half, p.lo, sum.lo) + lacks);
  return fabs(x) < 1e-20 ? x : y + y;
}

}  // namespace trine_math
