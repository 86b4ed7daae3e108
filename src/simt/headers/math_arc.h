// Inverse circular functions of float and double. Bounds in ulp: asin 2, acos 2, atan 2, atan2 3 (float), 2 (double).
#pragma once

#include "math_base.h"

namespace trine_math {

template <class T>
struct Pi;
template <>
struct Pi<float> {
  static constexpr float kHi = 3.14159274f, kLo = -8.74227766e-8f;
};
template <>
struct Pi<double> {
  static constexpr double kHi = 3.141592653589793, kLo = 1.2246467991473532e-16;
};

// (asin(x) - x) / x^3 of z = x^2 <= 1/4, (atan(x) - x) / x^3 of z = x^2 <= 1.
TRINE_MATH float asin_tail(float z) {
  return poly(z, 0.16666752f, 0.07495307f, 0.045469638f, 0.024181534f, 0.042165037f);
}
TRINE_MATH double asin_tail(double z) {
  return poly(z, 0.1666666666666676, 0.07499999999970819, 0.04464285717463486, 0.030381942705297076, 0.022372215087562,
              0.01735160978335861, 0.013980851700478143, 0.01139862580985486, 0.010782015850545418,
              0.0036992078755839534, 0.021726180849804325, -0.021027173174389478, 0.03264714349246363);
}
TRINE_MATH float atan_tail(float z) {
  return poly(z, -0.33333153f, 0.19993769f, -0.14211023f, 0.1066588f, -0.07551952f, 0.04320876f, -0.016366003f,
              0.0029202034f);
}
TRINE_MATH double atan_tail(double z) {
  return poly(z, -0.3333333333333307, 0.19999999999951756, -0.1428571428258855, 0.1111111100735493,
              -0.09090907008003227, 0.07692279891000552, -0.06666404438129865, 0.058805298846729526,
              -0.052535270812955864, 0.047223492737180406, -0.042192457555029254, 0.036643201134804834,
              -0.0299058087635479, 0.021987149042429332, -0.013902640588944897, 0.00719792575897647,
              -0.002885627889651036, 0.0008315652318609962, -0.00015221219870193814, 1.3230091772371405e-05);
}

// hi + lo - (a + b), |hi| >= |a|.
template <class T>
TRINE_MATH T minus(T hi, T lo, T a, T b) {
  const Pair<T> s = fast_two_sum(hi, -a);
  return s.hi + (s.lo + (lo - b));
}

// sqrt((1 - a) / 2) and what it lacks, and asin of it less itself.
template <class T>
struct HalfAngle {
  T s, tail;
};
template <class T>
TRINE_MATH HalfAngle<T> half_angle(T a) {
  const T z = fma(a, T(-0.5), T(0.5)), s = sqrt(z);
  const T lacks = z == T(0) ? T(0) : fma(-s, s, z) / (s + s);
  return {s, fma(s * z, asin_tail(z), lacks)};
}

template <class T>
TRINE_MATH T asin(T x) {
  const T a = fabs(x), z = x * x;
  const T near = fma(x * z, asin_tail(z), x);
  const HalfAngle<T> h = half_angle(a);
  const T far = minus(T(0.5) * Pi<T>::kHi, T(0.5) * Pi<T>::kLo, h.s + h.s, h.tail + h.tail);
  return a <= T(0.5) ? (x == T(0) ? x : near) : copysign(far, x);
}
template <class T>
TRINE_MATH T acos(T x) {
  const T a = fabs(x), z = x * x;
  const T near = minus(T(0.5) * Pi<T>::kHi, T(0.5) * Pi<T>::kLo, x, x * z * asin_tail(z));
  const HalfAngle<T> h = half_angle(a);
  const T twice = h.s + h.s, tail = h.tail + h.tail;
  const T far = x > T(0) ? twice + tail : minus(Pi<T>::kHi, Pi<T>::kLo, twice, tail);
  return a <= T(0.5) ? near : far;
}

// atan(t + rest) - t of 0 <= t <= 1.
template <class T>
TRINE_MATH T atan_rest(T t, T rest) {
  const T z = t * t;
  return fma(t * z, atan_tail(z), rest);
}
template <class T>
TRINE_MATH T atan(T x) {
  const T a = fabs(x);
  const bool large = a > T(1);
  const T t = large ? T(1) / a : a, lacks = large && isfinite(a) ? fma(-t, a, T(1)) * t : T(0);
  const T rest = atan_rest(t, lacks);
  const T y = large ? minus(T(0.5) * Pi<T>::kHi, T(0.5) * Pi<T>::kLo, t, rest) : t + rest;
  return copysign(isnan(x) ? x : y, x);
}
template <class T>
TRINE_MATH T atan2(T y, T x) {
  const T ax = fabs(x), ay = fabs(y);
  const bool steep = ay > ax, left = signbit(x);
  const T small = steep ? ax : ay, large = steep ? ay : ax;
  const bool plain = small != T(0) && large < infinity<T>();
  const T both = small == large && small != T(0) ? T(1) : T(0);  // two infinities are equally far
  const T t = plain ? small / large : both;
  const T lacks = plain ? fma(-t, large, small) / large : T(0);
  const T rest = atan_rest(t, isfinite(lacks) ? lacks : T(0));
  // steep: pi/2 -+ angle; left: pi - angle.
  const T hi = steep ? T(0.5) * Pi<T>::kHi : Pi<T>::kHi, lo = steep ? T(0.5) * Pi<T>::kLo : Pi<T>::kLo;
  const bool plus = steep && left;
  const T turned = minus(hi, lo, plus ? -t : t, plus ? -rest : rest);
  const T angle = steep || left ? turned : t + rest;
  return isnan(x) || isnan(y) ? x + y : copysign(angle, y);
}

}  // namespace trine_math
