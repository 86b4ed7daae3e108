// Error functions of float and double. Bounds in ulp: erf 2; erfc, erfcx, normcdf 5 (float), 4 (double).
//
// erfc(x) = e^(-x^2) erfcx(x) for x > 0, where (1 + 2 x) erfcx(x) is nearly constant: a polynomial in
// t = (x - 4) / (x + 4), which takes all of [0, inf) to [-1, 1) (Shepherd and Laframboise 1981). Near zero a series.
#pragma once

#include "math_exp_double.h"
#include "math_exp_float.h"

namespace trine_math {

// erf(x) on |x| < 1.
TRINE_MATH float erf_near(float x) {
  const float z = x * x;
  return fma(
      x, poly(z, 0.12837917f, -0.37612632f, 0.11283674f, -0.026858328f, 0.005198509f, -0.0008114953f, 8.2554e-05f), x);
}
TRINE_MATH double erf_near(double x) {
  const double z = x * x;
  return fma(x,
             poly(z, 0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792,
                  0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-05,
                  1.6461000484121368e-06, -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09,
                  5.957176147748911e-11),
             x);
}

// (1 + 2 x) erfcx(x) of t.
TRINE_MATH float erfcx_tail(float t) {
  return poly(t, 1.232995f, -0.13962111f, 0.015383843f, 0.06809666f, -0.101088256f, 0.09373753f, -0.06611786f,
              0.037146498f, -0.016617347f, 0.0050762906f, -0.00036590832f, -0.0002462804f);
}
TRINE_MATH double erfcx_tail(double t) {
  return poly(t, 1.2329951186255526, -0.13962111684056228, 0.015379652102619974, 0.06809705425466839,
              -0.10103906603631811, 0.09373283499911264, -0.06633036581186058, 0.037167515526338006,
              -0.01619773406293477, 0.005031970069102256, -0.0007577732435942576, -0.0001992571524726518,
              0.00015062142608651945, -2.4397731143023292e-05, -1.1221135665965907e-05, 5.70657829924074e-06,
              2.9173425573089733e-07, -8.210647933297337e-07, 7.771943241086912e-08, 1.0631817593818149e-07,
              -2.0725802488181963e-08, -1.2338731403798444e-08, 3.2323973445082033e-09, 9.297625263709659e-10,
              -2.764120233734578e-10);
}
// erfcx(a) of a >= 0. What t lacks counts near zero, times the slope there, which need not be exact.
template <class T>
TRINE_MATH T erfcx_positive(T a) {
  const T inside = a > T(1e18) ? T(1e18) : a;
  const T below = inside + T(4), above = inside - T(4), t = above / below;
  const T below_lacks = (inside - (below - T(4))), above_lacks = inside - (above + T(4));
  const T lacks = (fma(-t, below, above) + (above_lacks - t * below_lacks)) / below;
  const T slope = poly(t, T(-0.1396957f), 0.01586996f, 0.21045856f, -0.2846791f, 0.4271081f, -0.6354791f, 0.33833385f);
  return T(0.5) * fma(slope, lacks, erfcx_tail(t)) / (a + T(0.5));
}

template <class T>
struct ErfEnd;  // from where on e^(-x^2) is nothing
template <>
struct ErfEnd<float> {
  static constexpr float kX = 10.5f, kOver = 90.0f;
};
template <>
struct ErfEnd<double> {
  static constexpr double kX = 27.5, kOver = 720.0;
};
// erfc(a) of a >= 0, where `hi + lo` is a^2.
template <class T>
TRINE_MATH T erfc_positive(T a, T hi, T lo) {
  const bool nothing = !(a < ErfEnd<T>::kX);
  i32 n;
  const T e = exp_fraction(nothing ? T(0) : -hi, nothing ? T(0) : -lo, &n);
  const T y = scale(e * erfcx_positive(a), n);
  return nothing ? a - a + T(0) : y;
}

TRINE_MATH float erf(float x) {
  const float a = fabs(x);
  const float inside = a > 4.0f ? 4.0f : a;
  // 1 - e^-P(|x|), P by a polynomial.
  const float p = inside * poly(inside, 0.1289022f, 0.6341518f, 0.107848175f, -0.025132129f, 0.004299802f,
                                -0.00049763813f, 3.42045e-05f, -1.0344743e-06f);
  const float far = 1.0f - exp(-(p + inside));
  return a < 0.93f ? erf_near(x) : copysign(isnan(x) ? x : far, x);
}
TRINE_MATH double erf(double x) {
  const double a = fabs(x), inside = a > 6.0 ? 6.0 : a;
  const Pair<double> square = two_product(inside, inside);
  const double far = 1.0 - erfc_positive(inside, square.hi, square.lo);
  return a < 1.0 ? erf_near(x) : copysign(isnan(x) ? x : far, x);
}

// 1 - erf(x) near zero, 2 - erfc(-x) below; `a` is |x|.
template <class T>
TRINE_MATH T erfc_of(T x, T a, T hi, T lo) {
  const T far = a == infinity<T>() ? T(0) : erfc_positive(a, hi, lo);
  const T y = a < T(0.46875) ? T(1) - erf_near(x) : x < T(0) ? T(2) - far : far;
  return isnan(x) ? x : y;
}
template <class T>
TRINE_MATH T erfc(T x) {
  const T a = fabs(x);
  const Pair<T> square = two_product(a, a);
  return erfc_of(x, a, square.hi, square.lo);
}
// erfc(-x / sqrt(2)) / 2; the square of the argument is x^2 / 2.
template <class T>
TRINE_MATH T normcdf(T x) {
  const T root = T(0.70710678118654752440);
  const Pair<T> square = two_product(x, x);
  const T y = erfc_of(-x * root, fabs(x) * root, T(0.5) * square.hi, T(0.5) * square.lo);
  return T(0.5) * y;
}
template <class T>
TRINE_MATH T erfcx(T x) {
  const T a = fabs(x);
  const Pair<T> square = two_product(x, x);
  const bool over = square.hi > ErfEnd<T>::kOver;
  i32 n;
  const T e = exp_fraction(over ? ErfEnd<T>::kOver : square.hi, over ? T(0) : square.lo, &n);
  const T positive = erfcx_positive(a);
  const T y = x < T(0) ? scale(e + e, n) - positive : positive;
  return isnan(x) ? x : y;
}

}  // namespace trine_math
