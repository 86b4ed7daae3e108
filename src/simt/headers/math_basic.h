// Exact functions of float and double: minima, whole parts, exponents, neighbours.
#pragma once

#include "math_base.h"

namespace trine_math {

// The smaller; of -0 and 0, -0; beside a NaN, the number (IEEE 754-2019 minimumNumber, as PTX has it).
template <class T>
TRINE_MATH T min_number(T a, T b) {
  T y = a < b ? a : b;
  y = a == b ? from_bits(to_bits(a) | to_bits(b)) : y;
  y = isnan(a) ? b : isnan(b) ? a : y;
  return isnan(y) ? quiet_nan<T>() : y;
}
template <class T>
TRINE_MATH T max_number(T a, T b) {
  T y = a > b ? a : b;
  y = a == b ? from_bits(to_bits(a) & to_bits(b)) : y;
  y = isnan(a) ? b : isnan(b) ? a : y;
  return isnan(y) ? quiet_nan<T>() : y;
}
#if defined(__clang__) && defined(__CUDACC__)  // the same numbers from one instruction of the GPU
TRINE_MATH float fmin(float a, float b) { return __builtin_elementwise_minimumnum(a, b); }
TRINE_MATH double fmin(double a, double b) { return __builtin_elementwise_minimumnum(a, b); }
TRINE_MATH float fmax(float a, float b) { return __builtin_elementwise_maximumnum(a, b); }
TRINE_MATH double fmax(double a, double b) { return __builtin_elementwise_maximumnum(a, b); }
#else
TRINE_MATH float fmin(float a, float b) { return min_number(a, b); }
TRINE_MATH double fmin(double a, double b) { return min_number(a, b); }
TRINE_MATH float fmax(float a, float b) { return max_number(a, b); }
TRINE_MATH double fmax(double a, double b) { return max_number(a, b); }
#endif
template <class T>
TRINE_MATH T fdim(T a, T b) {
  return a <= b ? T(0) : a - b;
}
// x held to [0, 1]; NaN gives 0.
TRINE_MATH float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

TRINE_MATH float floor(float x) { return __builtin_floorf(x); }
TRINE_MATH double floor(double x) { return __builtin_floor(x); }
TRINE_MATH float ceil(float x) { return __builtin_ceilf(x); }
TRINE_MATH double ceil(double x) { return __builtin_ceil(x); }
TRINE_MATH float trunc(float x) { return __builtin_truncf(x); }
TRINE_MATH double trunc(double x) { return __builtin_trunc(x); }
TRINE_MATH float rint(float x) { return __builtin_rintf(x); }
TRINE_MATH double rint(double x) { return __builtin_rint(x); }
// Halves go away from zero.
template <class T>
TRINE_MATH T round(T x) {
  const T t = trunc(x);
  return copysign(fabs(x - t) >= T(0.5) ? t + copysign(T(1), x) : t, x);
}
// The whole part through *whole, the rest as the result, both with the sign of x.
template <class T>
TRINE_MATH T modf(T x, T* whole) {
  const T t = trunc(x);
  *whole = t;
  return copysign(isinf(x) ? T(0) : x - t, x);
}

// The biased exponent of x as if denormal numbers were normal (0 or less then), and its 1.m in [1, 2).
template <class T>
TRINE_MATH i32 split_exponent(T x, T* significand) {
  using F = Format<T>;
  const bool tiny = fabs(x) < from_bits(typename F::Bits(1) << F::kMantissa);
  const T y = tiny ? x * exp2_normal(T(), F::kMantissa + 1) : x;
  const typename F::Bits field = typename F::Bits(F::kMaxExponent) << F::kMantissa, bits = to_bits(y);
  *significand = from_bits((bits & ~field) | typename F::Bits(F::kBias) << F::kMantissa);
  return static_cast<i32>((bits & field) >> F::kMantissa) - (tiny ? F::kMantissa + 1 : 0);
}

template <class T>
TRINE_MATH bool is_plain(T x) {
  return isfinite(x) && x != T(0);
}

template <class T>
TRINE_MATH T frexp(T x, i32* exponent) {
  T m;
  const i32 e = split_exponent(x, &m);
  *exponent = is_plain(x) ? e - Format<T>::kBias + 1 : 0;
  return is_plain(x) ? m * T(0.5) : x + x;
}
// For 0 INT_MIN, for infinities INT_MAX, for NaN INT_MIN, as CUDA's.
template <class T>
TRINE_MATH i32 ilogb(T x) {
  T m;
  const i32 e = split_exponent(x, &m) - Format<T>::kBias;
  return is_plain(x) ? e : isinf(x) ? 0x7fffffff : static_cast<i32>(0x80000000u);
}
template <class T>
TRINE_MATH T logb(T x) {
  T m;
  const i32 e = split_exponent(x, &m) - Format<T>::kBias;
  return is_plain(x) ? static_cast<T>(e) : x == T(0) ? -infinity<T>() : x * x;
}

// x 2^n, rounded once: the exponent is set as that of a number 2^k larger, and only the last product can round.
template <class T>
TRINE_MATH T ldexp(T x, i32 n) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  const i32 up = F::kMantissa + 2;
  T m;
  const i32 inside = n > 5000 ? 5000 : n < -5000 ? -5000 : n;
  const i32 e = split_exponent(x, &m) + inside;
  const bool low = e < 1;
  i32 biased = low ? e + up : e;
  biased = biased < 1 ? 1 : biased > F::kMaxExponent - 1 ? F::kMaxExponent - 1 : biased;
  const Bits fraction = to_bits(m) & ((Bits(1) << F::kMantissa) - 1);
  const T magnitude = from_bits(fraction | Bits(biased) << F::kMantissa) * (low ? exp2_normal(T(), -up) : T(1));
  const T y = copysign(e >= F::kMaxExponent ? infinity<T>() : magnitude, x);
  return is_plain(x) ? y : x + x;
}
template <class T>
TRINE_MATH T scalbln(T x, long n) {
  return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : static_cast<i32>(n));
}

// The next number up or down; the largest finite number leads to infinity.
template <class T>
TRINE_MATH T next_up(T x) {
  const auto bits = to_bits(x);
  const T y = from_bits(signbit(x) ? bits - 1 : bits + 1);
  return x == T(0) ? from_bits(typename Format<T>::Bits(1)) : x == infinity<T>() || isnan(x) ? x : y;
}
template <class T>
TRINE_MATH T next_down(T x) {
  return -next_up(-x);
}
template <class T>
TRINE_MATH T nextafter(T x, T y) {
  const T next = x < y ? next_up(x) : next_down(x);
  return isnan(x) || isnan(y) ? x + y : x == y ? y : next;
}

}  // namespace trine_math
