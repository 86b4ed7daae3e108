// What all of the device math library stands on: function attributes, bits of floating-point numbers, Horner's scheme.
//
// The math_*.h headers are CUDA C++ for the device and plain C++20 for the host, where the tests run them. They call no
// library: additions, multiplications, divisions, square roots and fma are correctly rounded on every machine, so the
// same operations in the same order give the same bits on the CPU and on the GPU. Selects stand where others branch,
// since the CPU runs these functions in vectors across threads; a branch is left only in front of rare, long work.
// Compilers must not contract a*b+c here (-ffp-contract=off; trine_math.h says so to clang): fma is written as fma.
#pragma once

#ifdef __CUDACC__
#define TRINE_MATH __attribute__((host, device, always_inline)) inline
#define TRINE_MATH_MEMBER __attribute__((host, device, always_inline))
#else
#define TRINE_MATH inline
#define TRINE_MATH_MEMBER
#endif

// For `if (TRINE_ON_CPU)`, where one of both has an instruction that the other lacks: one bitcode serves both, and each
// back end decides (fold_reflect.h; LLVM's NVVMReflect).
#ifdef __CUDA_ARCH__
#define TRINE_ON_CPU __nvvm_reflect("__TRINE_CPU")
#else
#define TRINE_ON_CPU true
#endif

namespace trine_math {

using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;

TRINE_MATH u32 to_bits(float x) { return __builtin_bit_cast(u32, x); }
TRINE_MATH u64 to_bits(double x) { return __builtin_bit_cast(u64, x); }
TRINE_MATH float from_bits(u32 x) { return __builtin_bit_cast(float, x); }
TRINE_MATH double from_bits(u64 x) { return __builtin_bit_cast(double, x); }

// The layout of a type: `kMantissa` stored bits, exponent bias, and numbers at its ends.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = u32;
  using Signed = i32;
  static constexpr int kMantissa = 23, kBias = 127, kMaxExponent = 255;
  static constexpr u32 kSign = 0x80000000u, kInf = 0x7f800000u, kQuiet = 0x7fffffffu;
};
template <>
struct Format<double> {
  using Bits = u64;
  using Signed = i64;
  static constexpr int kMantissa = 52, kBias = 1023, kMaxExponent = 2047;
  static constexpr u64 kSign = 0x8000000000000000u, kInf = 0x7ff0000000000000u, kQuiet = 0xfff8000000000000u;
};

template <class T>
TRINE_MATH T infinity() {
  return from_bits(Format<T>::kInf);
}
// The one NaN that results carry; NVIDIA's arithmetic makes these bits too.
template <class T>
TRINE_MATH T quiet_nan() {
  return from_bits(Format<T>::kQuiet);
}

TRINE_MATH float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRINE_MATH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TRINE_MATH float sqrt(float x) { return __builtin_sqrtf(x); }
TRINE_MATH double sqrt(double x) { return __builtin_sqrt(x); }
#ifdef __CUDACC__
TRINE_MATH float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }  // GPUs have it; on the CPU it is what follows
#else
TRINE_MATH float rsqrt(float x) { return 1.0f / sqrt(x); }
#endif
TRINE_MATH double rsqrt(double x) { return 1.0 / sqrt(x); }

TRINE_MATH float fabs(float x) { return from_bits(to_bits(x) & ~Format<float>::kSign); }
TRINE_MATH double fabs(double x) { return from_bits(to_bits(x) & ~Format<double>::kSign); }
TRINE_MATH float copysign(float x, float s) {
  return from_bits((to_bits(x) & ~Format<float>::kSign) | (to_bits(s) & Format<float>::kSign));
}
TRINE_MATH double copysign(double x, double s) {
  return from_bits((to_bits(x) & ~Format<double>::kSign) | (to_bits(s) & Format<double>::kSign));
}
// x with its sign turned where s is negative.
TRINE_MATH float mulsign(float x, float s) { return from_bits(to_bits(x) ^ (to_bits(s) & Format<float>::kSign)); }
TRINE_MATH double mulsign(double x, double s) { return from_bits(to_bits(x) ^ (to_bits(s) & Format<double>::kSign)); }

template <class T>
TRINE_MATH bool isnan(T x) {
  return x != x;
}
template <class T>
TRINE_MATH bool isinf(T x) {
  return fabs(x) == infinity<T>();
}
template <class T>
TRINE_MATH bool isfinite(T x) {
  return fabs(x) < infinity<T>();
}
template <class T>
TRINE_MATH bool signbit(T x) {
  return (to_bits(x) & Format<T>::kSign) != 0;
}

// c0 + c1 x + c2 x^2 + ...
template <class T>
TRINE_MATH T poly(T, T c0) {
  return c0;
}
template <class T, class... C>
TRINE_MATH T poly(T x, T c0, C... rest) {
  return fma(poly(x, static_cast<T>(rest)...), x, c0);
}

// 2^n for n in the range of normal numbers.
TRINE_MATH float exp2_normal(float, i32 n) { return from_bits(static_cast<u32>(n + 127) << 23); }
TRINE_MATH double exp2_normal(double, i32 n) { return from_bits(static_cast<u64>(n + 1023) << 52); }
// x 2^n for |n| <= 252 (float), 2044 (double): in two steps, so that only the second can round or overflow when x is
// near 1.
template <class T>
TRINE_MATH T scale(T x, i32 n) {
  const i32 half = n >> 1;
  return x * exp2_normal(T(), half) * exp2_normal(T(), n - half);
}

// The integer nearest to a b (|a b| < 2^22, 2^31), as a number and in *n, without a conversion: adding 1.5 2^23 leaves
// it in the low bits of the mantissa. A NaN leaves a NaN and some integer.
TRINE_MATH float round_product(float a, float b, i32* n) {
  const float shifter = 12582912.0f, t = fma(a, b, shifter);
  *n = static_cast<i32>(to_bits(t) - to_bits(shifter));
  return t - shifter;
}
TRINE_MATH double round_product(double a, double b, i32* n) {
  const double shifter = 6755399441055744.0, t = fma(a, b, shifter);
  *n = static_cast<i32>(static_cast<u32>(to_bits(t)));
  return t - shifter;
}

// An unevaluated sum: hi is it rounded, lo what hi lacks.
template <class T>
struct Pair {
  T hi, lo;
};
// Exact for any a, b (Knuth); for |a| >= |b| or a == 0 (Dekker); of a product.
template <class T>
TRINE_MATH Pair<T> two_sum(T a, T b) {
  const T s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class T>
TRINE_MATH Pair<T> fast_two_sum(T a, T b) {
  const T s = a + b;
  return {s, b - (s - a)};
}
template <class T>
TRINE_MATH Pair<T> two_product(T a, T b) {
  const T p = a * b;
  return {p, fma(a, b, -p)};
}
template <class T>
TRINE_MATH Pair<T> add(Pair<T> a, Pair<T> b) {
  const Pair<T> s = two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
}
template <class T>
TRINE_MATH Pair<T> add(Pair<T> a, T b) {
  const Pair<T> s = two_sum(a.hi, b);
  return fast_two_sum(s.hi, s.lo + a.lo);
}
template <class T>
TRINE_MATH Pair<T> mul(Pair<T> a, Pair<T> b) {
  const Pair<T> p = two_product(a.hi, b.hi);
  return fast_two_sum(p.hi, fma(a.hi, b.lo, fma(a.lo, b.hi, p.lo)));
}
template <class T>
TRINE_MATH Pair<T> mul(Pair<T> a, T b) {
  const Pair<T> p = two_product(a.hi, b);
  return fast_two_sum(p.hi, fma(a.lo, b, p.lo));
}
template <class T>
TRINE_MATH Pair<T> div(Pair<T> a, Pair<T> b) {
  const T q = a.hi / b.hi;
  const T rest = fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo);
  return fast_two_sum(q, rest / b.hi);
}

}  // namespace trine_math
