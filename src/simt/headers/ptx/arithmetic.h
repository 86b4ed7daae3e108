// Arithmetic of integers and of floating-point numbers.
#pragma once

#include "types.h"

namespace trine_ptx {

// Carries: the third operand is added; what leaves at the top goes to `carry`.
template <Text op, class T>
PTX T add_carry(T a, T b, u32 in, u32& carry) {
  const u64 x = static_cast<Bits<T>>(a), y = static_cast<Bits<T>>(b);
  const u64 sum = x + y + in;
  const bool out = sizeof(T) == 8 ? sum < x || (in && sum == x) : sum >> (8 * sizeof(T) & 63);
  if constexpr (op.has("cc")) carry = out;
  return static_cast<T>(sum);
}

template <class T>
PTX T saturated(s64 x) {
  constexpr s64 most = static_cast<s64>(static_cast<Bits<T>>(-1) >> 1), least = -most - 1;
  return static_cast<T>(x > most ? most : x < least ? least : x);
}

template <Text op, class T, class D, class A, class B>
PTX void i_add(D& d, A x, B y, u32& carry) {
  const T a = as<T>(x), b = as<T>(y);
  if constexpr (is_integer<T>) {
    static_assert(op.only("sat cc "));
    if constexpr (op.has("sat")) put(d, saturated<T>(static_cast<s64>(a) + b));
    else put(d, add_carry<op>(a, b, 0, carry));
  } else {
    static_assert(op.only("rn rz rm rp ftz sat "));
    put(d, each<op>([](auto p, auto q) { return trine_math::add_rounded<rounding<op>>(p, q); }, a, b));
  }
}
template <Text op, class T, class D, class A, class B>
PTX void i_addc(D& d, A x, B y, u32& carry) {
  static_assert(op.only("cc "));
  put(d, add_carry<op>(as<T>(x), as<T>(y), carry, carry));
}
// a - b is a + ~b + 1; the borrow is the carry's opposite, which is what the flag holds in PTX between sub and subc.
template <Text op, class T, class D, class A, class B>
PTX void i_sub(D& d, A x, B y, u32& carry) {
  const T a = as<T>(x), b = as<T>(y);
  if constexpr (is_integer<T>) {
    static_assert(op.only("sat cc "));
    if constexpr (op.has("sat")) put(d, saturated<T>(static_cast<s64>(a) - b));
    else put(d, add_carry<op>(a, static_cast<T>(~b), 1, carry));
  } else {
    static_assert(op.only("rn rz rm rp ftz sat "));
    put(d, each<op>([](auto p, auto q) { return trine_math::add_rounded<rounding<op>>(p, -q); }, a, b));
  }
}
template <Text op, class T, class D, class A, class B>
PTX void i_subc(D& d, A x, B y, u32& carry) {
  static_assert(op.only("cc "));
  put(d, add_carry<op>(as<T>(x), static_cast<T>(~as<T>(y)), carry, carry));
}

template <class T>
PTX T high_half(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (is_signed<T>) return __mul64hi(a, b);
    else return __umul64hi(a, b);
  } else {
    return static_cast<T>(static_cast<s64>(a) * static_cast<s64>(b) >> 8 * sizeof(T));
  }
}
template <>
PTX u32 high_half(u32 a, u32 b) {
  return static_cast<u32>(static_cast<u64>(a) * b >> 32);
}
template <class T>
struct Double;
template <>
struct Double<u16> {
  using type = u32;
};
template <>
struct Double<s16> {
  using type = s32;
};
template <>
struct Double<u32> {
  using type = u64;
};
template <>
struct Double<s32> {
  using type = s64;
};
template <Text op, class T>
PTX auto product(T a, T b) {
  if constexpr (op.has("wide")) {
    using Wide = typename Double<T>::type;
    return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else if constexpr (op.has("hi")) {
    return high_half(a, b);
  } else {
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
  }
}

template <Text op, class T, class D, class A, class B>
PTX void i_mul(D& d, A x, B y) {
  const T a = as<T>(x), b = as<T>(y);
  if constexpr (is_integer<T>) {
    static_assert(op.only("wide hi lo "));
    put(d, product<op>(a, b));
  } else {
    static_assert(op.only("rn rz rm rp ftz sat "));
    put(d, each<op>([](auto p, auto q) { return trine_math::mul_rounded<rounding<op>>(p, q); }, a, b));
  }
}

// A float that stands for the double: rounding it to a small type gives what rounding the double gives.
PTX float odd_float(double x) {
  const float near = static_cast<float>(x);
  const double lacks = x - near;
  if (!(lacks != 0.0) || near - near != 0.0f || (__builtin_bit_cast(u32, near) & 1)) return near;
  const bool away = (lacks > 0) == (near > 0) && near != 0;
  return __builtin_bit_cast(float, __builtin_bit_cast(u32, near) + (away ? 1u : ~0u));
}

// Of the small types in double, made odd: then one rounding is left.
template <class T, trine_math::Round round, class F>
PTX F fused(F a, F b, F c) {
  if constexpr (!is_half<T> && !is_pair<T>) {
    return trine_math::fma_rounded<round>(a, b, c);
  } else {
    const double p = static_cast<double>(a) * b;
    const auto s = trine_math::two_sum<double>(p, static_cast<double>(c));
    return odd_float(trine_math::to_odd(s.hi, s.lo));
  }
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_fma(D& d, A x, B y, C z) {
  static_assert(op.only("rn rz rm rp ftz sat relu "));
  put(d,
      each<op>([](auto p, auto q, auto r) { return fused<T, rounding<op>>(p, q, r); }, as<T>(x), as<T>(y), as<T>(z)));
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_mad(D& d, A x, B y, C z, u32& carry) {
  if constexpr (is_integer<T>) {
    static_assert(op.only("wide hi lo sat cc "));
    const auto p = product<op>(as<T>(x), as<T>(y));
    using P = __remove_const(decltype(p));
    if constexpr (op.has("sat")) put(d, saturated<P>(static_cast<s64>(p) + as<P>(z)));
    else put(d, add_carry<op>(static_cast<P>(p), as<P>(z), 0, carry));
  } else {
    i_fma<op, T>(d, x, y, z);
  }
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_madc(D& d, A x, B y, C z, u32& carry) {
  static_assert(op.only("hi lo cc "));
  put(d, add_carry<op>(product<op>(as<T>(x), as<T>(y)), as<T>(z), carry, carry));
}
template <Text op, class T>
PTX T product24(T a, T b) {
  const s64 p = static_cast<s64>(static_cast<T>(a << 8) >> 8) * static_cast<s64>(static_cast<T>(b << 8) >> 8);
  return static_cast<T>(op.has("hi") ? p >> 16 : p);
}
template <Text op, class T, class D, class A, class B>
PTX void i_mul24(D& d, A x, B y) {
  static_assert(op.only("hi lo "));
  put(d, product24<op>(as<T>(x), as<T>(y)));
}
template <Text op, class T, class D, class A, class B, class C>
PTX void i_mad24(D& d, A x, B y, C z) {
  static_assert(op.only("hi lo "));
  put(d, static_cast<T>(static_cast<Bits<T>>(product24<op>(as<T>(x), as<T>(y))) + static_cast<Bits<T>>(as<T>(z))));
}

template <Text op, class T, class D, class A, class B>
PTX void i_div(D& d, A x, B y) {
  const T a = as<T>(x), b = as<T>(y);
  if constexpr (is_integer<T>) {
    static_assert(op.only(""));
    put(d, static_cast<T>(a / b));
  } else {
    static_assert(op.only("rn rz rm rp approx full ftz ") && is_real<T>);
    put(d, each<op>([](auto p, auto q) { return trine_math::div_rounded<rounding<op>>(p, q); }, a, b));
  }
}
template <Text op, class T, class D, class A, class B>
PTX void i_rem(D& d, A x, B y) {
  static_assert(op.only("") && is_integer<T>);
  put(d, static_cast<T>(as<T>(x) % as<T>(y)));
}

template <Text op, class T, class D, class A>
PTX void i_abs(D& d, A x) {
  static_assert(op.only("ftz "));
  const T a = as<T>(x);
  if constexpr (is_integer<T>) put(d, static_cast<T>(a < 0 ? 0 - static_cast<Bits<T>>(a) : static_cast<Bits<T>>(a)));
  else if constexpr (is_pair<T>) put(d, as<u32>(a) & 0x7fff7fff);
  else put(d, input<op>(as<T>(static_cast<Bits<T>>(as<Bits<T>>(a) & static_cast<Bits<T>>(-1) >> 1))));
}
template <Text op, class T, class D, class A>
PTX void i_neg(D& d, A x) {
  static_assert(op.only("ftz "));
  const T a = as<T>(x);
  if constexpr (is_integer<T>) put(d, static_cast<T>(0 - static_cast<Bits<T>>(a)));
  else if constexpr (is_pair<T>) put(d, as<u32>(a) ^ 0x80008000);
  else put(d, input<op>(as<T>(static_cast<Bits<T>>(as<Bits<T>>(a) ^ Bits<T>(1) << (8 * sizeof(T) - 1)))));
}

// Of numbers: a NaN gives way to the other unless the opcode keeps it; -0 is less than 0.
template <Text op, bool larger, class F>
PTX F extreme(F a, F b) {
  const F nan = __builtin_bit_cast(F, static_cast<Bits<F>>(sizeof(F) == 4 ? 0x7fffffffull : 0x7fffffffffffffffull));
  if constexpr (op.has("NaN")) {
    if (a != a || b != b) return nan;
  }
  F result = a;
  if (a != a) result = b != b ? nan : b;
  else if (b == b) {
    const bool a_less = a < b || (a == b && __builtin_signbit(a));
    result = a_less == larger ? b : a;
  }
  return result;
}
template <Text op, bool larger, class T, class D, class A, class B>
PTX void extreme_of(D& d, A x, B y) {
  const T a = as<T>(x), b = as<T>(y);
  if constexpr (is_integer<T>) {
    static_assert(op.only(""));
    put(d, (a < b) == larger ? b : a);
  } else {
    static_assert(op.only("ftz NaN "));
    put(d, each<op>([](auto p, auto q) { return extreme<op, larger>(p, q); }, a, b));
  }
}
template <Text op, class T, class D, class A, class B>
PTX void i_min(D& d, A x, B y) {
  extreme_of<op, false, T>(d, x, y);
}
template <Text op, class T, class D, class A, class B>
PTX void i_max(D& d, A x, B y) {
  extreme_of<op, true, T>(d, x, y);
}

template <Text op, class T, class D, class A>
PTX void i_rcp(D& d, A x) {
  static_assert(op.only("rn rz rm rp approx ftz ") && is_real<T>);
  put(d, each<op>([](auto p) { return trine_math::div_rounded<rounding<op>>(decltype(p)(1), p); }, as<T>(x)));
}
template <Text op, class T, class D, class A>
PTX void i_sqrt(D& d, A x) {
  static_assert(op.only("rn rz rm rp approx ftz ") && is_real<T>);
  put(d, each<op>([](auto p) { return trine_math::sqrt_rounded<rounding<op>>(p); }, as<T>(x)));
}
template <Text op, class T, class D, class A>
PTX void i_rsqrt(D& d, A x) {
  static_assert(op.only("approx ftz ") && is_real<T>);
  put(d, each<op>([](auto p) { return static_cast<decltype(p)>(1.0 / ::sqrt(static_cast<double>(p))); }, as<T>(x)));
}
#define PTX_FUNCTION(name, function)                                                       \
  template <Text op, class T, class D, class A>                                            \
  PTX void i_##name(D& d, A x) {                                                           \
    static_assert(op.only("approx ftz ") && !same<T, double>);                             \
    put(d, each<op>([](float p) { return static_cast<float>(::function(p)); }, as<T>(x))); \
  }
PTX_FUNCTION(sin, sinf)
PTX_FUNCTION(cos, cosf)
PTX_FUNCTION(lg2, log2f)
PTX_FUNCTION(ex2, exp2f)
PTX_FUNCTION(tanh, tanhf)
#undef PTX_FUNCTION

template <Text op, class T, class D, class A, class B>
PTX void i_copysign(D& d, A x, B y) {  // the sign of x, the rest of y
  static_assert(op.only("") && is_real<T>);
  put(d, trine_math::copysign(as<T>(y), as<T>(x)));
}
template <Text op, class T, class D, class A>
PTX void i_testp(D& d, A x) {
  static_assert(op.only("finite infinite number notanumber normal subnormal ") && is_real<T>);
  const T a = as<T>(x), size = __builtin_elementwise_abs(a);
  const T least = same<T, float> ? static_cast<T>(1.17549435e-38f) : static_cast<T>(2.2250738585072014e-308);
  const bool finite = a - a == T(0);
  if constexpr (op.has("finite")) put(d, finite);
  else if constexpr (op.has("infinite")) put(d, !finite && a == a);
  else if constexpr (op.has("number")) put(d, a == a);
  else if constexpr (op.has("notanumber")) put(d, a != a);
  else if constexpr (op.has("normal")) put(d, finite && size >= least);
  else put(d, size > T(0) && size < least);
}

}  // namespace trine_ptx
