// Cube roots, and lengths of vectors. Bounds in ulp: cbrt 1, rcbrt 2, hypot 1, rhypot 2, norm3d, norm4d and norm 1,
// rnorm3d, rnorm4d and rnorm 2.
#pragma once

#include "math_basic.h"

namespace trine_math {

// From y near x^(-1/3) with an error e of x y^3, one of 14/81 e^3.
template <class T>
TRINE_MATH T rcbrt_step(T x, T y) {
  const T e = fma(-x * y, y * y, T(1));
  return fma(y * e, fma(e, T(0.2222222222222222222), T(0.3333333333333333333)), y);
}
// x^(-1/3) of x in [1, 8). A line through exponent and mantissa is good to 3 percent.
TRINE_MATH float rcbrt_plain(float x) {
  const float y = from_bits(0x54a2fa8cu - to_bits(x) / 3u);
  return rcbrt_step(x, rcbrt_step(x, y));
}
TRINE_MATH double rcbrt_plain(double x) {
  return rcbrt_step(x, static_cast<double>(rcbrt_plain(static_cast<float>(x))));
}

// x = m 2^(3 k), m in [1, 8).
template <class T>
struct Cube {
  T m;
  i32 k;
};
template <class T>
TRINE_MATH Cube<T> split_cube(T x) {
  T f;
  const i32 e = split_exponent(fabs(x), &f) - Format<T>::kBias;
  const i32 k = (e + 1200) / 3 - 400;
  return {f * exp2_normal(T(), e - 3 * k), k};
}
template <class T>
TRINE_MATH T cbrt(T x) {
  const Cube<T> s = split_cube(x);
  const T r = rcbrt_plain(s.m), square = r * r, c = s.m * square;
  const Pair<T> p = two_product(c, c);
  const T lacks = fma(-p.hi, c, s.m) - p.lo * c;
  const T y = fma(lacks * square, T(0.3333333333333333333), c) * exp2_normal(T(), s.k);
  return is_plain(x) ? copysign(y, x) : x + x;
}
template <class T>
TRINE_MATH T rcbrt(T x) {
  const Cube<T> s = split_cube(x);
  const T y = rcbrt_step(s.m, rcbrt_plain(s.m)) * exp2_normal(T(), -s.k);
  return is_plain(x) ? copysign(y, x) : T(1) / x;
}

// Powers of two: below and above which numbers are multiplied by another, so that squares are normal numbers.
template <class T>
struct SquareRange;
template <>
struct SquareRange<float> {
  static constexpr float kSmall = 0x1p-48f, kUp = 0x1p110f, kLarge = 0x1p40f, kDown = 0x1p-80f;
};
template <>
struct SquareRange<double> {
  static constexpr double kSmall = 0x1p-340, kUp = 0x1p620, kLarge = 0x1p340, kDown = 0x1p-620;
};
// A sum of squares of numbers multiplied by `by`.
template <class T>
struct Squares {
  Pair<T> sum = {T(0), T(0)};
  T by;
  // `most` is the largest of the magnitudes.
  TRINE_MATH_MEMBER explicit Squares(T most) {
    using Range = SquareRange<T>;
    by = most > Range::kLarge ? Range::kDown : most < Range::kSmall ? Range::kUp : T(1);
  }
  TRINE_MATH_MEMBER void add(T x) {
    const Pair<T> p = two_product(x * by, x * by), s = two_sum(sum.hi, p.hi);
    sum = {s.hi, sum.lo + (s.lo + p.lo)};
  }
  TRINE_MATH_MEMBER T root() const {
    const T h = sqrt(sum.hi);
    return h > T(0) && isfinite(h) ? h + (fma(-h, h, sum.hi) + sum.lo) / (h + h) : h;
  }
  TRINE_MATH_MEMBER T length() const { return root() * (T(1) / by); }
  TRINE_MATH_MEMBER T inverse() const { return T(1) / root() * by; }
};

template <class T>
TRINE_MATH T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
TRINE_MATH Squares<T> squares_of(T a, T b, T c, T d) {
  Squares<T> s(larger(larger(fabs(a), fabs(b)), larger(fabs(c), fabs(d))));
  s.add(a);
  s.add(b);
  s.add(c);
  s.add(d);
  return s;
}
// An infinity is as long beside a NaN.
template <class T>
TRINE_MATH bool any_infinite(T a, T b, T c, T d) {
  return isinf(a) || isinf(b) || isinf(c) || isinf(d);
}
template <class T>
TRINE_MATH T norm4d(T a, T b, T c, T d) {
  return any_infinite(a, b, c, d) ? infinity<T>() : squares_of(a, b, c, d).length();
}
template <class T>
TRINE_MATH T rnorm4d(T a, T b, T c, T d) {
  return any_infinite(a, b, c, d) ? T(0) : squares_of(a, b, c, d).inverse();
}
template <class T>
TRINE_MATH T norm3d(T a, T b, T c) {
  return norm4d(a, b, c, T(0));
}
template <class T>
TRINE_MATH T rnorm3d(T a, T b, T c) {
  return rnorm4d(a, b, c, T(0));
}
template <class T>
TRINE_MATH T hypot(T a, T b) {
  return norm4d(a, b, T(0), T(0));
}
template <class T>
TRINE_MATH T rhypot(T a, T b) {
  return rnorm4d(a, b, T(0), T(0));
}

template <class T>
TRINE_MATH Squares<T> squares_of(int n, const T* x, bool* infinite) {
  T most = T(0);
  *infinite = false;
  for (int i = 0; i < n; ++i) {
    most = larger(most, fabs(x[i]));
    *infinite = *infinite || isinf(x[i]);
  }
  Squares<T> s(most);
  for (int i = 0; i < n; ++i) s.add(x[i]);
  return s;
}
template <class T>
TRINE_MATH T norm(int n, const T* x) {
  bool infinite;
  const Squares<T> s = squares_of(n, x, &infinite);
  return infinite ? infinity<T>() : s.length();
}
template <class T>
TRINE_MATH T rnorm(int n, const T* x) {
  bool infinite;
  const Squares<T> s = squares_of(n, x, &infinite);
  return infinite ? T(0) : s.inverse();
}

}  // namespace trine_math
