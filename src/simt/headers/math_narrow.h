// Numbers of 16 and 8 bits: float to and from any format with a sign, kExponent bits, and kMantissa bits below 24.
// Whole-number arithmetic, for machines without an instruction; exact.
#pragma once

#include "math_convert.h"

namespace trine_math {

using u16 = unsigned short;
using u8 = unsigned char;

// What the codes at the top mean: infinity and NaNs as IEEE has them, or one NaN, all ones, and no infinity (E4M3).
enum class Top { ieee, finite };

template <int kExponent, int kMantissa, Top kTop = Top::ieee>
struct Narrow {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr u32 kSign = 1u << (kExponent + kMantissa);
  static constexpr u32 kNan = kSign - 1;  // all ones; NVIDIA's arithmetic makes this one
  static constexpr u32 kInf = ((1u << kExponent) - 1) << kMantissa;
  static constexpr u32 kMax = kTop == Top::ieee ? kInf - 1 : kNan - 1;
  static constexpr u32 kOver = kTop == Top::ieee ? kInf : kNan;  // what is too large
};
using HalfFormat = Narrow<5, 10>;
using E4m3 = Narrow<4, 3, Top::finite>;
using E5m2 = Narrow<5, 2>;
using Bf16Format = Narrow<8, 7>;

template <class Format>
struct NarrowBits;
template <int kExponent, int kMantissa, Top kTop>
struct NarrowBits<Narrow<kExponent, kMantissa, kTop>> {
  static constexpr int kE = kExponent, kM = kMantissa;
};

// The float of a code.
template <class F>
TRINE_MATH float widen(u32 code) {
  constexpr int kM = NarrowBits<F>::kM;
  const u32 magnitude = code & (F::kSign - 1), placed = magnitude << (23 - kM);
  const float normal = from_bits(placed + (static_cast<u32>(127 - F::kBias) << 23));
  // A denormal code with a one in front, less that one.
  const float tiny = from_bits(placed + (static_cast<u32>(128 - F::kBias) << 23)) - exp2_normal(0.0f, 1 - F::kBias);
  const float y = magnitude >> kM == 0 ? tiny : normal;
  const bool special = magnitude > F::kMax;
  const float top = magnitude == F::kInf && F::kOver == F::kInf ? infinity<float>() : quiet_nan<float>();
  return mulsign(special ? top : y, from_bits(code & F::kSign ? 0x80000000u : 0u));
}

// The code nearest to x, halves to even; what is too large becomes infinity, or NaN where there is none, or with
// `saturate` the largest number.
template <class F>
TRINE_MATH u32 narrow_to(float x, bool saturate = false) {
  constexpr int kM = NarrowBits<F>::kM, kShift = 23 - kM;
  const u32 bits = to_bits(x), magnitude = bits & 0x7fffffffu;
  const u32 sign = bits & 0x80000000u ? F::kSign : 0;
  // Normal results: half of the last place is added, less where the even one is below; a carry moves the exponent.
  const u32 lowered = magnitude - (static_cast<u32>(127 - F::kBias) << 23);
  const u32 normal = (lowered + ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1)) >> kShift;
  // Denormal ones: adding 2^(23 + their unit) leaves them in the low bits, rounded.
  const float magic = exp2_normal(0.0f, 1 - F::kBias - kM + 23);
  const u32 tiny = to_bits(from_bits(magnitude) + magic) - to_bits(magic);
  const bool is_tiny = magnitude < static_cast<u32>(128 - F::kBias) << 23;
  u32 code = is_tiny ? tiny : normal;
  code = code > F::kMax ? (saturate ? F::kMax : F::kOver) : code;
  return sign | (magnitude > 0x7f800000u ? F::kNan : code);
}

// A code that is nearest to x moved to the other side of x, where the rounding asks for it.
template <Round kRound, class F>
TRINE_MATH u32 settle_code(u32 code, float back, float x) {
  if constexpr (kRound == Round::nearest) return code;
  const bool negative = (code & F::kSign) != 0, above = back > x, below = back < x;
  const bool outwards = negative ? above && kRound == Round::down : below && kRound == Round::up;
  const bool inwards = negative ? below && kRound != Round::down : above && kRound != Round::up;
  const u32 magnitude = code & (F::kSign - 1);
  return outwards ? code + 1 : inwards && magnitude != 0 ? code - 1 : code;
}

// A float that stands for the double x: rounded to odd, so that rounding it to fewer than 22 bits is rounding x.
TRINE_MATH float odd_float(double x) {
  const float y = static_cast<float>(x);
  const double back = y;
  const bool inexact = back < x || back > x, even = (to_bits(y) & 1) == 0;
  const u32 step = (back < x) != signbit(y) ? 1u : ~0u;
  return from_bits(inexact && even && isfinite(y) ? to_bits(y) + step : to_bits(y));
}

// As odd_float, of a whole number.
template <class Int>
TRINE_MATH float odd_integer(Int x) {
  if constexpr (sizeof(Int) <= 4) return odd_float(static_cast<double>(x));
  if constexpr (Int(-1) < Int(0)) {
    const Pair<double> p = to_pair(static_cast<i64>(x));
    return odd_float(to_odd(p.hi, p.lo));
  } else {
    const Pair<double> p = to_pair(static_cast<u64>(x));
    return odd_float(to_odd(p.hi, p.lo));
  }
}

// a b + c rounded to odd, as a float: of halves, whose products are exact; of bf16, whose products are exact in double.
TRINE_MATH float odd_fma_half(float a, float b, float c) {
  const Pair<float> s = two_sum(a * b, c);
  const bool inexact = s.lo < 0.0f || s.lo > 0.0f, even = (to_bits(s.hi) & 1) == 0;
  const u32 step = (s.lo > 0.0f) != signbit(s.hi) ? 1u : ~0u;
  return from_bits(inexact && even && isfinite(s.hi) ? to_bits(s.hi) + step : to_bits(s.hi));
}
TRINE_MATH float odd_fma_bf16(float a, float b, float c) {
  const double p = static_cast<double>(a) * b;
  const Pair<double> s = two_sum(p, static_cast<double>(c));
  return odd_float(to_odd(s.hi, s.lo));
}

// bf16 is the upper half of a float.
TRINE_MATH float widen_bf16(u16 code) { return from_bits(static_cast<u32>(code) << 16); }
TRINE_MATH u16 narrow_to_bf16(float x) {
  const u32 bits = to_bits(x), rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<u16>(isnan(x) ? 0x7fffu : rounded);
}

#ifdef __CUDA_ARCH__  // instructions of both machines
TRINE_MATH float widen_half(u16 code) { return static_cast<float>(__builtin_bit_cast(_Float16, code)); }
TRINE_MATH u16 narrow_to_half(float x) { return __builtin_bit_cast(u16, static_cast<_Float16>(x)); }
#else
TRINE_MATH float widen_half(u16 code) { return widen<HalfFormat>(code); }
TRINE_MATH u16 narrow_to_half(float x) { return static_cast<u16>(narrow_to<HalfFormat>(x)); }
#endif

}  // namespace trine_math
