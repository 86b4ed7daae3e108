// Bits, bytes, comparisons, selections and moves.
#pragma once

#include "types.h"

namespace trine_ptx {

#define PTX_LOGIC(name, expression)                      \
  template <Text op, class T, class D, class A, class B> \
  PTX void i_##name(D& d, A x, B y) {                    \
    static_assert(op.only(""));                          \
    const T a = as<T>(x), b = as<T>(y);                  \
    put(d, static_cast<T>(expression));                  \
  }
PTX_LOGIC(and, a& b)
PTX_LOGIC(or, a | b)
PTX_LOGIC(xor, a ^ b)
#undef PTX_LOGIC
template <Text op, class T, class D, class A>
PTX void i_not(D& d, A x) {
  static_assert(op.only(""));
  if constexpr (same<T, bool>) put(d, !as<bool>(x));
  else put(d, static_cast<T>(~as<T>(x)));
}
template <Text op, class T, class D, class A>
PTX void i_cnot(D& d, A x) {
  static_assert(op.only(""));
  put(d, static_cast<T>(as<T>(x) == 0));
}
// Counts of the width or more leave nothing but signs.
template <Text op, class T, class D, class A, class B>
PTX void i_shl(D& d, A x, B y) {
  static_assert(op.only(""));
  const u32 by = as<u32>(y);
  put(d, by < 8 * sizeof(T) ? static_cast<T>(as<Bits<T>>(x) << by) : T(0));
}
template <Text op, class T, class D, class A, class B>
PTX void i_shr(D& d, A x, B y) {
  static_assert(op.only(""));
  const u32 by = as<u32>(y), most = 8 * sizeof(T) - 1;
  const T a = as<T>(x);
  if constexpr (is_signed<T>) put(d, static_cast<T>(a >> (by < most ? by : most)));
  else put(d, by <= most ? static_cast<T>(a >> by) : T(0));
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_shf(D& d, A x, B y, C z) {
  static_assert(op.only("l r wrap clamp ") && sizeof(T) == 4);
  const u64 both = static_cast<u64>(as<u32>(y)) << 32 | as<u32>(x);
  const u32 count = as<u32>(z), by = op.has("wrap") ? count & 31 : count < 32 ? count : 32;
  put(d, static_cast<u32>(op.has("l") ? both << by >> 32 : both >> by));
}
// Bit i of the table says what a, b, c give whose bits make the number i.
template <Text op, class T, class D, class A, class B, class C, class I>
PTX void i_lop3(D& d, A x, B y, C z, I immediate) {
  static_assert(op.only(""));
  const u32 a = as<u32>(x), b = as<u32>(y), c = as<u32>(z), table = as<u32>(immediate);
  u32 result = 0;
#pragma unroll
  for (u32 i = 0; i < 8; ++i)
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  put(d, result);
}
template <Text op, class T, class D, class A>
PTX void i_popc(D& d, A x) {
  static_assert(op.only(""));
  put(d, static_cast<u32>(__popcll(as<T>(x))));
}
template <Text op, class T, class D, class A>
PTX void i_clz(D& d, A x) {
  static_assert(op.only(""));
  put(d, static_cast<u32>(__clzll(static_cast<s64>(as<T>(x))) - (64 - 8 * static_cast<int>(sizeof(T)))));
}
template <Text op, class T, class D, class A>
PTX void i_brev(D& d, A x) {
  static_assert(op.only(""));
  put(d, static_cast<T>(__brevll(as<T>(x)) >> (64 - 8 * sizeof(T))));
}
// The highest bit that differs from the sign; -1 without one.
template <Text op, class T, class D, class A>
PTX void i_bfind(D& d, A x) {
  static_assert(op.only("shiftamt "));
  const T a = as<T>(x);
  Bits<T> bits = static_cast<Bits<T>>(a);
  if constexpr (is_signed<T>) bits = a < 0 ? static_cast<Bits<T>>(~bits) : bits;
  const u32 at = 63 - static_cast<u32>(__clzll(static_cast<s64>(bits)));
  put(d, bits == 0 ? ~0u : op.has("shiftamt") ? 8 * static_cast<u32>(sizeof(T)) - 1 - at : at);
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_fns(D& d, A x, B y, C z) {
  static_assert(op.only(""));
  put(d, __fns(as<u32>(x), as<u32>(y), as<s32>(z)));
}
template <class T>
PTX u64 low_ones(u32 count) {
  return count >= 8 * sizeof(T) ? static_cast<u64>(static_cast<Bits<T>>(-1)) : (u64(1) << count) - 1;
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_bfe(D& d, A x, B y, C z) {
  static_assert(op.only(""));
  constexpr u32 width = 8 * sizeof(T);
  const u32 at = as<u32>(y) & 255, count = as<u32>(z) & 255;
  const T a = as<T>(x);
  const u64 sign = is_signed<T> && a < 0 ? ~u64(0) : 0;
  const u64 bits = sizeof(T) == 4 ? (sign << 32 | static_cast<Bits<T>>(a)) : static_cast<u64>(a);
  u64 field = at < width ? bits >> at : sign;
  if constexpr (is_signed<T>)
    if (at && at < 64) field |= sign << (64 - at) % 64;
  if (count < width) {
    field &= low_ones<T>(count);
    // The field's own top bit spreads, or that of the value where the field ends above it.
    if constexpr (is_signed<T>) {
      const bool negative = count != 0 && (at + count <= width ? field >> (count - 1) & 1 : sign & 1);
      if (negative) field |= ~low_ones<T>(count);
    }
  }
  put(d, static_cast<T>(field));
}
template <Text op, class T, class D, class A, class B, class C, class E>
PTX void i_bfi(D& d, A x, B y, C z, E w) {
  static_assert(op.only(""));
  const u32 at = as<u32>(z) & 255, count = as<u32>(w) & 255;
  const u64 mask = at < 8 * sizeof(T) ? low_ones<T>(count) << at : 0;
  const u64 shifted = at < 8 * sizeof(T) ? static_cast<u64>(as<T>(x)) << at : 0;
  put(d, static_cast<T>((as<T>(y) & ~mask) | (shifted & mask)));
}
template <Text op, class T, class D, class A, class B>
PTX void i_bmsk(D& d, A x, B y) {
  static_assert(op.only("clamp wrap "));
  const u32 a = as<u32>(x), b = as<u32>(y);
  if constexpr (op.has("wrap")) put(d, static_cast<u32>(low_ones<u32>(b & 31) << (a & 31)));
  else put(d, a < 32 ? static_cast<u32>(low_ones<u32>(b) << a) : 0u);
}
template <Text op, class T, class D, class A, class B>
PTX void i_szext(D& d, A x, B y) {
  static_assert(op.only("clamp wrap "));
  const T a = as<T>(x);
  const u32 count = op.has("wrap") ? as<u32>(y) & 31 : as<u32>(y);
  if (count >= 32) put(d, a);
  else if (count == 0) put(d, T(0));
  else put(d, static_cast<T>(static_cast<T>(static_cast<u32>(a) << (32 - count)) >> (32 - count)));
}
// Which byte of b:a goes to byte i, by the mode; the eighth bit of a selector spreads a sign.
template <Text op, class T, class D, class A, class B, class C>
PTX void i_prmt(D& d, A x, B y, C z) {
  static_assert(op.only("f4e b4e rc8 ecl ecr rc16 "));
  const u64 both = static_cast<u64>(as<u32>(y)) << 32 | as<u32>(x);
  const u32 c = as<u32>(z), n = c & 3;
  u32 result = 0;
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    u32 from = c >> 4 * i & 15;
    if constexpr (op.has("f4e")) from = (n + i) & 7;
    if constexpr (op.has("b4e")) from = (n - i) & 7;
    if constexpr (op.has("rc8")) from = n;
    if constexpr (op.has("ecl")) from = i > n ? i : n;
    if constexpr (op.has("ecr")) from = i < n ? i : n;
    if constexpr (op.has("rc16")) from = (n & 1) * 2 + (i & 1);
    const u32 byte = static_cast<u32>(both >> 8 * (from & 7)) & 255;
    result |= (from & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  put(d, result);
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_sad(D& d, A x, B y, C z) {
  static_assert(op.only(""));
  using U = Bits<T>;
  const T a = as<T>(x), b = as<T>(y);
  const U apart = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                        : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
  put(d, static_cast<T>(static_cast<U>(as<T>(z)) + apart));
}
template <class T>
PTX s32 byte_of(u32 word, u32 i) {
  const u32 byte = word >> 8 * i & 255;
  return is_signed<T> ? static_cast<s8>(byte) : static_cast<s32>(byte);
}
template <Text op, class T, class U, class D, class A, class B, class C>
PTX void i_dp4a(D& d, A x, B y, C z) {
  static_assert(op.only(""));
  u32 sum = as<u32>(z);
#pragma unroll
  for (u32 i = 0; i < 4; ++i) sum += static_cast<u32>(byte_of<T>(as<u32>(x), i) * byte_of<U>(as<u32>(y), i));
  put(d, sum);
}
template <Text op, class T, class U, class D, class A, class B, class C>
PTX void i_dp2a(D& d, A x, B y, C z) {
  static_assert(op.only("lo hi "));
  u32 sum = as<u32>(z);
#pragma unroll
  for (u32 i = 0; i < 2; ++i) {
    const u32 half = as<u32>(x) >> 16 * i & 65535;
    const s32 a = is_signed<T> ? static_cast<s16>(half) : static_cast<s32>(half);
    sum += static_cast<u32>(a * byte_of<U>(as<u32>(y), i + (op.has("hi") ? 2 : 0)));
  }
  put(d, sum);
}

// Comparisons; those that end with u hold for a NaN too.
template <Text op, class F>
PTX bool compared(F a, F b) {
  bool unordered = false;
  if constexpr (is_real<F>) unordered = a != a || b != b;
  if constexpr (op.has("eq")) return a == b && !unordered;
  else if constexpr (op.has("ne")) return a != b && !unordered;
  else if constexpr (op.has("lt") || op.has("lo")) return a < b;
  else if constexpr (op.has("le") || op.has("ls")) return a <= b;
  else if constexpr (op.has("gt") || op.has("hi")) return a > b;
  else if constexpr (op.has("ge") || op.has("hs")) return a >= b;
  else if constexpr (op.has("equ")) return a == b || unordered;
  else if constexpr (op.has("neu")) return a != b || unordered;
  else if constexpr (op.has("ltu")) return a < b || unordered;
  else if constexpr (op.has("leu")) return a <= b || unordered;
  else if constexpr (op.has("gtu")) return a > b || unordered;
  else if constexpr (op.has("geu")) return a >= b || unordered;
  else if constexpr (op.has("num")) return !unordered;
  else return unordered;
}
#define PTX_COMPARISONS "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan ftz and or xor "
template <Text op>
PTX bool joined(bool result, bool with) {
  if constexpr (op.has("and")) return result && with;
  else if constexpr (op.has("or")) return result || with;
  else if constexpr (op.has("xor")) return result != with;
  else return result;
}
template <Text op>
inline constexpr bool joins = op.has("and") || op.has("or") || op.has("xor");
template <Text op, class T>
PTX bool compared_as(T a, T b) {
  if constexpr (is_integer<T>) return compared<op>(a, b);
  else return compared<op>(input<op>(wide(a)), input<op>(wide(b)));
}
// setp p[|q], a, b[, c]: q is the comparison's opposite, or that of the upper halves.
template <Text op, class T, class... All>
PTX void i_setp(All&&... all) {
  static_assert(op.only(PTX_COMPARISONS));
  constexpr unsigned results = sizeof...(All) - 2 - joins<op>;
  const T a = as<T>(pick<results>(all...)), b = as<T>(pick<results + 1>(all...));
  bool with = false;
  if constexpr (joins<op>) with = as<bool>(pick<results + 2>(all...));
  if constexpr (is_pair<T>) {
    const bool low = compared_as<op>(a.low, b.low), high = compared_as<op>(a.high, b.high);
    put(pick<0>(all...), joined<op>(low, with));
    if constexpr (results == 2) put(pick<1>(all...), joined<op>(high, with));
  } else {
    const bool yes = compared_as<op>(a, b);
    put(pick<0>(all...), joined<op>(yes, with));
    if constexpr (results == 2) put(pick<1>(all...), joined<op>(!yes, with));
  }
}
template <Text op, class R, class T, class D, class A, class B, class... With>
PTX void i_set(D& d, A x, B y, With... with) {
  static_assert(op.only(PTX_COMPARISONS) && !is_pair<T> && !is_half<R>);
  bool yes = compared_as<op>(as<T>(x), as<T>(y));
  if constexpr (sizeof...(With) == 1) yes = joined<op>(yes, as<bool>(with...));
  if constexpr (is_real<R>) put(d, yes ? R(1) : R(0));
  else put(d, yes ? static_cast<R>(-1) : R(0));
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_selp(D& d, A x, B y, C c) {
  static_assert(op.only(""));
  put(d, as<bool>(c) ? as<T>(x) : as<T>(y));
}
template <Text op, class T, class S, class D, class A, class B, class C>
PTX void i_slct(D& d, A x, B y, C c) {
  static_assert(op.only("ftz "));
  put(d, input<op>(as<S>(c)) >= S(0) ? as<T>(x) : as<T>(y));
}

template <Text op, class T, class D, class A>
PTX void i_mov(D& d, A x) {
  static_assert(op.only(""));
  put(d, as<T>(x));
}
// mov d, {a, b, ...}: the first is the lowest.
template <Text op, class T, class D, class... Parts>
PTX void i_pack(D& d, Parts... parts) {
  constexpr unsigned bits = 8 * sizeof(T) / sizeof...(Parts);
  u64 all = 0;
  unsigned at = 0;
  ((all |= as<typename UnsignedOf<bits / 8>::type>(parts) * (u64(1) << at), at += bits), ...);
  put(d, static_cast<Bits<T>>(all));
}
// mov {a, b, ...}, x
template <Text op, class T, class... All>
PTX void i_unpack(All&&... all) {
  constexpr unsigned count = sizeof...(All) - 1, bits = 8 * sizeof(T) / count;
  const u64 value = as<Bits<T>>(pick<count>(all...));
  [&]<unsigned... i>(Numbers<i...>) {
    (put(pick<i>(all...), static_cast<typename UnsignedOf<bits / 8>::type>(value >> bits * i)), ...);
  }(typename UpTo<count>::type{});
}

}  // namespace trine_ptx
