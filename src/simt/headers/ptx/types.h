// Inline PTX on the CPU: an instruction is a call of a function template below trine_ptx whose first argument is its
// opcode's text; registers are variables of unsigned, float or double, which an instruction reads as its own type.
#pragma once

#pragma clang fp contract(off)

#define PTX __attribute__((device, always_inline)) inline
#define PTX_SHARED __attribute__((address_space(3)))

namespace trine_ptx {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;
using b8 = u8;
using b16 = u16;
using b32 = u32;
using b64 = u64;
using f32 = float;
using f64 = double;
using pred = bool;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct f16x2 {
  f16 low, high;
};
struct bf16x2 {
  bf16 low, high;
};
struct tf32 {
  u32 bits;
};
struct e4m3x2 {
  u16 bits;
};
struct e5m2x2 {
  u16 bits;
};
struct s4;
struct u4;
struct b1;

// The text of an opcode, of which the first part is the name.
template <unsigned size>
struct Text {
  char text[size];
  constexpr Text(const char (&from)[size]) {
    for (unsigned i = 0; i < size; ++i) text[i] = from[i];
  }
  // The end of the part that begins at `at`.
  constexpr unsigned end(unsigned at) const {
    while (text[at] && text[at] != '.') ++at;
    return at;
  }
  constexpr bool is(unsigned at, unsigned stop, const char* part) const {
    unsigned i = 0;
    for (; at + i < stop; ++i)
      if (part[i] != text[at + i]) return false;
    return !part[i];
  }
  constexpr bool has(const char* part) const {
    for (unsigned at = end(0); text[at];) {
      const unsigned stop = end(at + 1);
      if (is(at + 1, stop, part)) return true;
      at = stop;
    }
    return false;
  }
  // Every part but the name is a type, a hint for caches, or stands in `list`, whose words end with a space.
  constexpr bool only(const char* list) const {
    for (unsigned at = end(0); text[at];) {
      const unsigned stop = end(at + 1);
      if (!stands_in(at + 1, stop, list) && !is_type(at + 1, stop) && !is_hint(at + 1, stop)) return false;
      at = stop;
    }
    return true;
  }
  constexpr bool stands_in(unsigned at, unsigned stop, const char* list) const {
    for (const char* word = list; *word;) {
      unsigned i = 0;
      while (word[i] != ' ' && at + i < stop && word[i] == text[at + i]) ++i;
      if (word[i] == ' ' && at + i == stop) return true;
      while (*word++ != ' ') {
      }
    }
    return false;
  }
  constexpr bool is_type(unsigned at, unsigned stop) const {
    return stands_in(at, stop,
                     "u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 pred e4m3x2 "
                     "e5m2x2 s4 u4 b1 ");
  }
  constexpr bool is_hint(unsigned at, unsigned stop) const {
    return stop - at > 4 && text[at] == 'L' && (text[at + 1] == '1' || text[at + 1] == '2') && text[at + 2] == ':';
  }
};

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;
template <class T>
inline constexpr bool is_real = same<T, float> || same<T, double>;
template <class T>
inline constexpr bool is_half = same<T, f16> || same<T, bf16>;
template <class T>
inline constexpr bool is_pair = same<T, f16x2> || same<T, bf16x2>;
template <class T>
inline constexpr bool is_integer = __is_integral(T);
template <class T>
inline constexpr bool is_signed = is_integer<T> && __is_signed(T);

template <unsigned bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = u8;
};
template <>
struct UnsignedOf<2> {
  using type = u16;
};
template <>
struct UnsignedOf<4> {
  using type = u32;
};
template <>
struct UnsignedOf<8> {
  using type = u64;
};
template <class T>
using Bits = typename UnsignedOf<sizeof(T)>::type;
template <class T>
struct SignedOf;
template <>
struct SignedOf<u16> {
  using type = s16;
};
template <>
struct SignedOf<u32> {
  using type = s32;
};
template <>
struct SignedOf<u64> {
  using type = s64;
};

// What is no register.
struct Integer {
  s64 value;
};
struct Real {
  double value;
};
struct Sink {};  // _

// An operand as an instruction of type T reads it: the same bits; of another size, the low ones or zeros above.
template <class T, class X>
PTX T as(X x) {
  if constexpr (same<X, Integer>) {
    if constexpr (same<T, bool>) return x.value != 0;
    else return __builtin_bit_cast(T, static_cast<Bits<T>>(x.value));
  } else if constexpr (same<X, Real>) {
    return static_cast<T>(x.value);
  } else if constexpr (same<T, X>) {
    return x;
  } else if constexpr (same<T, bool> || same<X, bool>) {
    return static_cast<T>(x);
  } else {
    return __builtin_bit_cast(T, static_cast<Bits<T>>(__builtin_bit_cast(Bits<X>, x)));
  }
}

// A result in a register, which may be wider: signed values keep their sign.
template <class D, class V>
PTX void put(D& to, V value) {
  if constexpr (same<V, bool> || same<D, bool>) to = static_cast<D>(value);
  else if constexpr (is_signed<V> && sizeof(D) > sizeof(V)) to = as<D>(static_cast<s64>(value));
  else to = as<D>(value);
}
template <class V>
PTX void put(Sink, V) {}

// The operand with this number.
template <unsigned number, class First, class... Rest>
PTX decltype(auto) pick(First&& first, Rest&&... rest) {
  if constexpr (number == 0) return static_cast<First&&>(first);
  else return pick<number - 1>(static_cast<Rest&&>(rest)...);
}

// The numbers 0 to count - 1.
template <unsigned... i>
struct Numbers {};
template <unsigned count, unsigned... i>
struct UpTo : UpTo<count - 1, count - 1, i...> {};
template <unsigned... i>
struct UpTo<0, i...> {
  using type = Numbers<i...>;
};

// Numbers of the small types as floats, which hold them exactly.
PTX float wide(f16 x) { return static_cast<float>(__builtin_bit_cast(_Float16, x.bits)); }
PTX float wide(bf16 x) { return __builtin_bit_cast(float, static_cast<u32>(x.bits) << 16); }
PTX float wide(float x) { return x; }
PTX double wide(double x) { return x; }

template <class T>
PTX T narrow(float x) {
  if constexpr (same<T, f16>) {
    return {x != x ? static_cast<u16>(0x7fff) : __builtin_bit_cast(u16, static_cast<_Float16>(x))};
  } else if constexpr (same<T, bf16>) {
    const u32 bits = __builtin_bit_cast(u32, x);
    return {static_cast<u16>(x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return static_cast<T>(x);
  }
}
template <class T>
PTX double narrow(double x) {
  return x;
}

PTX float flushed(float x) { return __builtin_fabsf(x) < 1.17549435e-38f ? __builtin_copysignf(0.0f, x) : x; }
// The operand without denormals where the opcode asks for that.
template <Text op, class T>
PTX T input(T x) {
  if constexpr (op.has("ftz") && same<T, float>) return flushed(x);
  else return x;
}
template <Text op, class T>
PTX T output(T x) {
  if constexpr (op.has("sat") && is_real<T>) x = x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
  if constexpr (op.has("relu") && is_real<T>) x = x > T(0) || x != x ? x : T(0);
  if constexpr (op.has("ftz") && same<T, float>) x = flushed(x);
  return x;
}

// f on each number of a value: halves of pairs apart, small types as floats.
template <Text op, class T, class F, class... Rest>
PTX T each(F f, T a, Rest... rest) {
  if constexpr (is_pair<T>) return {each<op>(f, a.low, rest.low...), each<op>(f, a.high, rest.high...)};
  else return narrow<T>(output<op>(f(input<op>(wide(a)), input<op>(wide(rest))...)));
}

// Rounding of an opcode's arithmetic.
template <Text op>
inline constexpr trine_math::Round rounding = op.has("rz")   ? trine_math::Round::zero
                                              : op.has("rm") ? trine_math::Round::down
                                              : op.has("rp") ? trine_math::Round::up
                                                             : trine_math::Round::nearest;

}  // namespace trine_ptx
