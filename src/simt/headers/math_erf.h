// Error functions of float and double. Bounds in ulp: erf 2; erfc, erfcx, normcdf 5.
//
// erfc(x) = e^(-x^2) erfcx(x) for x > 0, where (1 + 2 x) erfcx(x) is nearly constant: a polynomial in
// t = (x - 4) / (x + 4), which takes all of [0, inf) to [-1, 1) (Shepherd and Laframboise 1981). erf near zero is a
// series.
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
  return poly(t, 1.23299515f, -0.139621124f, 0.0153774014f, 0.0680972263f, -0.101014793f, 0.0937329009f, -0.066425249f,
              0.0371599048f, -0.0160345323f, 0.00506043714f, -0.000876233447f, -0.000239732981f, 0.000167839156f);
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
// (1 + 2 a) erfcx(a) of a >= 0, where `below` is 1 / (a + 4) but for rounding: t is corrected by what it lacks,
// (a - 4) - t (a + 4) = (a - 4 (1 + t)) - t a.
template <class T>
TRINE_MATH T erfcx_scaled(T a, T below) {
  const T t = (a - T(4)) * below;
  return erfcx_tail(fma(below, fma(-t, a, fma(T(-4), T(1) + t, a)), t));
}
template <class T>
TRINE_MATH T erfcx_positive(T a) {
  const T inside = a > T(1e18) ? T(1e18) : a;
  return T(0.5) * erfcx_scaled(inside, T(1) / (inside + T(4))) / (a + T(0.5));
}
// The same of a < 1e18, with one division for both quotients.
template <class T>
TRINE_MATH T erfcx_once(T a) {
  const T four = a + T(4), half = a + T(0.5), both = T(1) / (four * half);
  const T p = T(0.5) * erfcx_scaled(a, half * both), over = four * both, q = p * over;
  return fma(fma(-q, half, p), over, q);
}

template <class T>
struct ErfEnd;  // from where on erfc is nothing, and e^(x^2) too much
template <>
struct ErfEnd<float> {
  static constexpr float kX = 10.5f, kOver = 90.0f;
};
template <>
struct ErfEnd<double> {
  static constexpr double kX = 27.5, kOver = 720.0;
};
// erfc(a) of 0 <= a <= ErfEnd<T>::kX, where `hi + lo` is a^2.
template <class T>
TRINE_MATH T erfc_positive(T a, T hi, T lo) {
  i32 n;
  const T e = exp_fraction(-hi, -lo, &n);
  return scale(e * erfcx_once(a), n);
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

template <class T>
TRINE_MATH T erfc_turned(T x, T far) {
  return isnan(x) ? x : x < T(0) ? T(2) - far : far;
}
template <class T>
TRINE_MATH T erfc(T x) {
  const T a = fabs(x) < ErfEnd<T>::kX ? fabs(x) : ErfEnd<T>::kX;
  const Pair<T> square = two_product(a, a);
  return erfc_turned(x, erfc_positive(a, square.hi, square.lo));
}
// erfc(-x / sqrt(2)) / 2; the square of the argument is x^2 / 2.
template <class T>
TRINE_MATH T normcdf(T x) {
  const T root = T(0.70710678118654752440), end = ErfEnd<T>::kX / root;
  const T a = fabs(x) < end ? fabs(x) : end;
  const Pair<T> square = two_product(a, a);
  return T(0.5) * erfc_turned(-x, erfc_positive(a * root, T(0.5) * square.hi, T(0.5) * square.lo));
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
