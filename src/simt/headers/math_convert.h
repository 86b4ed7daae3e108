// Conversions between whole and floating-point numbers in every rounding, and reinterpretations. As PTX's cvt: numbers
// beyond the integer's range give its nearest end; NaN gives 0 between 32-bit types and else the top bit alone.
#pragma once

#include "math_rounded.h"

namespace trine_math {

template <Round kRound, class T>
TRINE_MATH T whole(T x) {
  if constexpr (kRound == Round::nearest) return rint(x);
  if constexpr (kRound == Round::zero) return trunc(x);
  if constexpr (kRound == Round::up) return ceil(x);
  return floor(x);
}

template <class Int>
struct IntegerRange;
template <>
struct IntegerRange<i32> {
  static constexpr double kLow = -0x1p31, kEnd = 0x1p31;
  static constexpr i32 kMin = static_cast<i32>(0x80000000u), kMax = 0x7fffffff, kTop = kMin;
};
template <>
struct IntegerRange<u32> {
  static constexpr double kLow = 0, kEnd = 0x1p32;
  static constexpr u32 kMin = 0, kMax = 0xffffffffu, kTop = 0x80000000u;
};
template <>
struct IntegerRange<i64> {
  static constexpr double kLow = -0x1p63, kEnd = 0x1p63;
  static constexpr i64 kMin = static_cast<i64>(1ull << 63), kMax = ~kMin, kTop = kMin;
};
template <>
struct IntegerRange<u64> {
  static constexpr double kLow = 0, kEnd = 0x1p64;
  static constexpr u64 kMin = 0, kMax = ~0ull, kTop = 1ull << 63;
};

template <class Int, Round kRound, class T>
TRINE_MATH Int to_integer(T x) {
  using Range = IntegerRange<Int>;
  const T y = whole<kRound>(x);
  const bool low = y < T(Range::kLow), high = y >= T(Range::kEnd);
  const Int inside = static_cast<Int>(low || high || isnan(y) ? T(0) : y);
  const Int nan = sizeof(Int) == 4 && sizeof(T) == 4 ? Int(0) : Range::kTop;
  return isnan(y) ? nan : low ? Range::kMin : high ? Range::kMax : inside;
}

// A 64-bit integer is the sum of two doubles.
TRINE_MATH Pair<double> to_pair(i64 x) {
  return two_sum(static_cast<double>(static_cast<i32>(x >> 32)) * 0x1p32, static_cast<double>(static_cast<u32>(x)));
}
TRINE_MATH Pair<double> to_pair(u64 x) {
  return two_sum(static_cast<double>(static_cast<u32>(x >> 32)) * 0x1p32, static_cast<double>(static_cast<u32>(x)));
}

template <Round kRound>
TRINE_MATH float to_float(i32 x) {
  return narrow<kRound>(x);
}
template <Round kRound>
TRINE_MATH float to_float(u32 x) {
  return narrow<kRound>(x);
}
template <Round kRound>
TRINE_MATH float to_float(i64 x) {
  if constexpr (kRound == Round::nearest) return static_cast<float>(x);
  const Pair<double> p = to_pair(x);
  return narrow<kRound>(to_odd(p.hi, p.lo));
}
template <Round kRound>
TRINE_MATH float to_float(u64 x) {
  if constexpr (kRound == Round::nearest) return static_cast<float>(x);
  const Pair<double> p = to_pair(x);
  return narrow<kRound>(to_odd(p.hi, p.lo));
}
template <Round kRound>
TRINE_MATH double to_double(i64 x) {
  const Pair<double> p = to_pair(x);
  return settle<kRound>(p.hi, p.lo);
}
template <Round kRound>
TRINE_MATH double to_double(u64 x) {
  const Pair<double> p = to_pair(x);
  return settle<kRound>(p.hi, p.lo);
}

TRINE_MATH i32 high_int(double x) { return static_cast<i32>(to_bits(x) >> 32); }
TRINE_MATH i32 low_int(double x) { return static_cast<i32>(static_cast<u32>(to_bits(x))); }
TRINE_MATH double double_of(i32 high, i32 low) {
  return from_bits(static_cast<u64>(static_cast<u32>(high)) << 32 | static_cast<u32>(low));
}

// The whole number nearest to x: halves to even, or away from zero.
template <class Int, class T>
TRINE_MATH Int rint_to(T x) {
  return to_integer<Int, Round::nearest>(x);
}
template <class Int, class T>
TRINE_MATH Int round_to(T x) {
  return to_integer<Int, Round::zero>(round(x));
}

}  // namespace trine_math
