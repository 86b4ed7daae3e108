// fmod, remainder and remquo of float and double: exact. Mantissas as 64-bit integers, divided a few bits at a time.
#pragma once

#include "math_basic.h"

namespace trine_math {

// a = quotient b + rest, 0 <= rest < b, in units of 2^unit; the quotient's low 32 bits.
struct Division {
  u64 rest, divisor;
  u32 quotient;
  i32 unit;
};

// a and b finite and positive, exponent of b at most 2 above that of a.
template <class T>
TRINE_MATH Division divide_whole(T a, T b) {
  using F = Format<T>;
  T ma, mb;
  const i32 ea = split_exponent(a, &ma), eb = split_exponent(b, &mb);
  const u64 hidden = 1ull << F::kMantissa;
  Division d;
  d.unit = (ea < eb ? ea : eb) - F::kBias - F::kMantissa;
  const i32 raise = eb > ea ? eb - ea : 0;
  d.divisor = ((to_bits(mb) & (hidden - 1)) | hidden) << raise;
  const u64 start = (to_bits(ma) & (hidden - 1)) | hidden;
  d.quotient = static_cast<u32>(start / d.divisor);
  d.rest = start % d.divisor;
  for (i32 left = ea - eb; left > 0;) {
    const i32 step = left < 63 - F::kMantissa ? left : 63 - F::kMantissa;
    const u64 next = d.rest << step;
    d.quotient = (step < 32 ? d.quotient << step : 0) + static_cast<u32>(next / d.divisor);
    d.rest = next % d.divisor;
    left -= step;
  }
  return d;
}

template <class T>
TRINE_MATH bool can_divide(T a, T b) {
  return is_plain(a) && is_plain(b);
}
// What is left of an `a` that needs no division: NaN unless `a` is finite and b is a number other than 0.
template <class T>
TRINE_MATH T undivided(T a, T b) {
  return isfinite(a) && !isnan(b) && b != T(0) ? a : quiet_nan<T>();
}

template <class T>
TRINE_MATH T fmod(T a, T b) {
  const T x = fabs(a), y = fabs(b);
  if (!can_divide(a, b) || x < y) return undivided(a, b);
  const Division d = divide_whole(x, y);
  return copysign(ldexp(static_cast<T>(d.rest), d.unit), a);
}

// The rest of the nearest whole quotient, of two equally near the even one.
template <class T>
TRINE_MATH T remquo(T a, T b, i32* quotient) {
  const T x = fabs(a), y = fabs(b);
  *quotient = 0;
  if (!can_divide(a, b) || x < y * T(0.25)) return undivided(a, b);
  const Division d = divide_whole(x, y);
  const u64 twice = d.rest + d.rest;
  const bool up = twice > d.divisor || (twice == d.divisor && (d.quotient & 1));
  const i32 low = static_cast<i32>((d.quotient + up) & 0x7fffffffu);
  *quotient = signbit(a) != signbit(b) ? -low : low;
  const T rest = ldexp(static_cast<T>(up ? d.divisor - d.rest : d.rest), d.unit);
  return mulsign(up ? -rest : rest, a);
}
template <class T>
TRINE_MATH T remainder(T a, T b) {
  i32 quotient;
  return remquo(a, b, &quotient);
}

}  // namespace trine_math
