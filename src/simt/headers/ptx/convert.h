// cvt: between all numbers, with their roundings.
#pragma once

#include "arithmetic.h"

namespace trine_ptx {

template <Text op>
PTX double whole(double x) {
  if constexpr (op.has("rzi")) return __builtin_trunc(x);
  else if constexpr (op.has("rmi")) return __builtin_floor(x);
  else if constexpr (op.has("rpi")) return __builtin_ceil(x);
  else return __builtin_rint(x);
}

template <Text op, class T>
PTX T to_integer(double x) {
  constexpr unsigned bits = 8 * sizeof(T);
  if (x != x) return sizeof(T) == 8 ? static_cast<T>(u64(1) << 63) : T(0);
  const double y = whole<op>(x);
  if constexpr (is_signed<T>) {
    const double most = static_cast<double>(u64(1) << (bits - 1));
    const T last = static_cast<T>((u64(1) << (bits - 1)) - 1);
    return y >= most ? last : y < -most ? static_cast<T>(-last - 1) : static_cast<T>(y);
  } else {
    const double most = 2.0 * static_cast<double>(u64(1) << (bits - 1));
    return y >= most ? static_cast<T>(~T(0)) : y <= 0 ? T(0) : static_cast<T>(y);
  }
}

template <class T, trine_math::Round round, class S>
PTX T real_of(S x) {  // of an integer
  using R = trine_math::Round;
  if constexpr (same<T, float>) {
    if constexpr (is_signed<S>) {
      const s64 y = x;
      if constexpr (round == R::zero) return __ll2float_rz(y);
      else if constexpr (round == R::down) return __ll2float_rd(y);
      else if constexpr (round == R::up) return __ll2float_ru(y);
      else return __ll2float_rn(y);
    } else {
      const u64 y = x;
      if constexpr (round == R::zero) return __ull2float_rz(y);
      else if constexpr (round == R::down) return __ull2float_rd(y);
      else if constexpr (round == R::up) return __ull2float_ru(y);
      else return __ull2float_rn(y);
    }
  } else if constexpr (is_signed<S>) {
    const s64 y = x;
    if constexpr (round == R::zero) return __ll2double_rz(y);
    else if constexpr (round == R::down) return __ll2double_rd(y);
    else if constexpr (round == R::up) return __ll2double_ru(y);
    else return __ll2double_rn(y);
  } else {
    const u64 y = x;
    if constexpr (round == R::zero) return __ull2double_rz(y);
    else if constexpr (round == R::down) return __ull2double_rd(y);
    else if constexpr (round == R::up) return __ull2double_ru(y);
    else return __ull2double_rn(y);
  }
}

template <class T, trine_math::Round round>
PTX T small_of(float x) {
  const T near = narrow<T>(x);
  if constexpr (round == trine_math::Round::nearest) return near;
  const float back = wide(near);
  const bool beyond = x < 0 ? back < x : back > x;
  const bool inward = round == trine_math::Round::zero   ? beyond
                      : round == trine_math::Round::down ? back > x && x >= 0
                                                         : back < x && x < 0;
  const bool outward = round == trine_math::Round::down ? back > x && x < 0
                       : round == trine_math::Round::up ? back < x && x >= 0
                                                        : false;
  if (x != x) return near;
  return {static_cast<u16>(near.bits + (outward ? 1 : 0) - (inward ? 1 : 0))};
}

// Numbers of one byte: `mantissa` bits below the leading one, exponents from `least`; too large is the largest.
template <int mantissa, int least>
PTX u8 byte_float(float x, u8 largest, float most) {
  const u8 sign = __builtin_signbit(x) ? 128 : 0;
  const float size = __builtin_fabsf(x);
  if (x != x) return 127;
  if (size > most) return sign | largest;
  int exponent = static_cast<int>(__builtin_bit_cast(u32, size) >> 23) - 127;
  exponent = exponent < least ? least : exponent;
  const float unit = __builtin_bit_cast(float, static_cast<u32>(exponent - mantissa + 127) << 23);
  const u32 units = static_cast<u32>(__builtin_rintf(size / unit));
  return static_cast<u8>(sign | (units + (static_cast<u32>(exponent - least) << mantissa)));
}
template <class T>
PTX u8 byte_of_float(float x) {
  if constexpr (same<T, e4m3x2>) return byte_float<3, -6>(x, 0x7e, 448.0f);
  else return byte_float<2, -14>(x, 0x7b, 57344.0f);
}
template <class T>
PTX f16 half_of_byte(u8 byte) {
  if constexpr (same<T, e5m2x2>) return {static_cast<u16>(byte << 8)};
  const u32 size = byte & 127;
  if (size == 127) return {0x7fff};
  const u32 exponent = size >> 3, rest = size & 7;
  const float value =
      exponent ? __builtin_bit_cast(float, (exponent + 120) << 23 | rest << 20) : static_cast<float>(rest) * 0x1p-9f;
  return narrow<f16>(byte & 128 ? -value : value);
}

PTX u32 tensor_float(u32 bits, bool away) {
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + (away ? 0x1000 : 0xfff + (bits >> 13 & 1))) & ~0x1fffu;
}

#define PTX_ROUNDINGS "rn rz rm rp rni rzi rmi rpi rna ftz sat relu satfinite "
template <Text op, class T, class S, class D, class A>
PTX void i_cvt(D& d, A operand) {
  static_assert(op.only(PTX_ROUNDINGS));
  if constexpr (same<T, e4m3x2> || same<T, e5m2x2>) {
    const f16x2 pair = as<f16x2>(operand);
    put(d, static_cast<u16>(byte_of_float<T>(wide(pair.low)) | byte_of_float<T>(wide(pair.high)) << 8));
  } else if constexpr (same<S, e4m3x2> || same<S, e5m2x2>) {
    const u16 both = as<u16>(operand);
    put(d, f16x2{half_of_byte<S>(static_cast<u8>(both)), half_of_byte<S>(static_cast<u8>(both >> 8))});
  } else if constexpr (same<T, tf32>) {
    static_assert(!op.has("relu") && !op.has("rz"));
    put(d, tensor_float(as<u32>(operand), op.has("rna")));
  } else {
    const S x = as<S>(operand);
    if constexpr (is_integer<T> && is_integer<S>) {
      if constexpr (op.has("sat")) {
        constexpr u64 most = static_cast<Bits<T>>(-1) >> (is_signed<T> ? 1 : 0);
        const bool negative = is_signed<S> && x < S(0);
        if (negative)
          put(d, !is_signed<T> ? T(0) : sizeof(T) < 8 ? saturated<T>(static_cast<s64>(x)) : static_cast<T>(x));
        else put(d, static_cast<u64>(x) > most ? static_cast<T>(most) : static_cast<T>(x));
      } else {
        put(d, static_cast<T>(x));
      }
    } else if constexpr (is_integer<T>) {
      put(d, to_integer<op, T>(static_cast<double>(input<op>(wide(x)))));
    } else if constexpr (is_integer<S>) {
      if constexpr (is_half<T>) {
        static_assert(sizeof(S) < 8 || same<T, f16>, "what does not fit a double");
        put(d, small_of<T, rounding<op>>(odd_float(static_cast<double>(x))));
      } else {
        put(d, output<op>(real_of<T, rounding<op>>(x)));
      }
    } else {
      auto y = input<op>(wide(x));
      if constexpr (op.has("rni") || op.has("rzi") || op.has("rmi") || op.has("rpi"))
        y = static_cast<decltype(y)>(whole<op>(static_cast<double>(y)));
      if constexpr (is_half<T>) put(d, small_of<T, rounding<op>>(output<op>(odd_float(static_cast<double>(y)))));
      else if constexpr (same<T, float> && same<S, double>) put(d, output<op>(trine_math::narrow<rounding<op>>(y)));
      else put(d, output<op>(static_cast<T>(y)));
    }
  }
}
// Two floats to a pair: the first is the upper.
template <Text op, class T, class S, class D, class A, class B>
PTX void i_cvt(D& d, A x, B y) {
  static_assert(op.only(PTX_ROUNDINGS) && same<S, float>);
  const float high = output<op>(as<float>(x)), low = output<op>(as<float>(y));
  if constexpr (same<T, e4m3x2> || same<T, e5m2x2>)
    put(d, static_cast<u16>(byte_of_float<T>(low) | byte_of_float<T>(high) << 8));
  else if constexpr (same<T, f16x2>) put(d, f16x2{small_of<f16, rounding<op>>(low), small_of<f16, rounding<op>>(high)});
  else put(d, bf16x2{small_of<bf16, rounding<op>>(low), small_of<bf16, rounding<op>>(high)});
}

}  // namespace trine_ptx
