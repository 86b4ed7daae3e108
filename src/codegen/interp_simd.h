// SIMD registers for the interpreter's kernels. Included by one file per CPU level, which defines in its anonymous
// namespace kIsaBytes and isa_fma, isa_rint, isa_floor, isa_trunc, isa_sqrt, isa_scale. Everything is in an anonymous
// namespace: code of one level must never be linked in for another.
#pragma once

#include <cstdint>

#include "codegen/interp.h"
#include "codegen/math.h"

namespace trine::codegen::interp {
namespace {

template <class T>
struct VecOf {
  typedef T type __attribute__((vector_size(kIsaBytes)));
};
template <class T>
using Vec = typename VecOf<T>::type;
template <class T>
constexpr int kLanes = static_cast<int>(kIsaBytes / sizeof(T));

using F32 = Vec<float>;
using F64 = Vec<double>;
using I32 = Vec<int32_t>;
using I64 = Vec<int64_t>;

// The integer of T's size: the type of T's comparison masks.
template <class T>
struct MaskOf {
  using type = int32_t;
};
template <>
struct MaskOf<double> {
  using type = int64_t;
};
template <>
struct MaskOf<int64_t> {
  using type = int64_t;
};
template <>
struct MaskOf<uint64_t> {
  using type = int64_t;
};
template <class T>
using Mask = Vec<typename MaskOf<T>::type>;

// The type whose sums, differences and products wrap: the unsigned one of an integer.
template <class T>
struct WrapOf {
  using type = T;
};
template <>
struct WrapOf<int32_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<int64_t> {
  using type = uint64_t;
};
template <class T>
using Wrap = typename WrapOf<T>::type;

template <class T>
inline Vec<T> read(const void* p, int64_t i) {
  Vec<T> v;
  __builtin_memcpy(&v, static_cast<const T*>(p) + i, sizeof v);
  return v;
}
template <class T>
inline void write(void* p, int64_t i, Vec<T> v) {
  __builtin_memcpy(static_cast<T*>(p) + i, &v, sizeof v);
}
template <class T>
inline Vec<T> splat(T x) {
  return x - Vec<T>{};
}  // x - 0 is x, also for -0 and NaN
template <class To, class From>
inline To same_bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(v);
}

// Eight-byte masks are stored four bytes wide.
template <class T>
inline void write_mask(void* p, int64_t i, Mask<T> m) {
  if constexpr (sizeof(T) == 4) {
    write<int32_t>(p, i, m);
  } else {
    typedef int32_t Half __attribute__((vector_size(kIsaBytes / 2)));
    const Half h = __builtin_convertvector(m, Half);
    __builtin_memcpy(static_cast<int32_t*>(p) + i, &h, sizeof h);
  }
}
template <class T>
inline Mask<T> read_mask(const void* p, int64_t i) {
  if constexpr (sizeof(T) == 4) {
    return read<int32_t>(p, i);
  } else {
    typedef int32_t Half __attribute__((vector_size(kIsaBytes / 2)));
    Half h;
    __builtin_memcpy(&h, static_cast<const int32_t*>(p) + i, sizeof h);
    return __builtin_convertvector(h, Mask<T>);
  }
}

// The builder of codegen/math.h over registers.
struct SimdMath {
  using F = F32;
  using I = I32;
  using U = Vec<uint32_t>;
  using M = I32;
  F num(float x) { return splat<float>(x); }
  I inum(int32_t x) { return splat<int32_t>(x); }
  F add(F a, F b) { return a + b; }
  F sub(F a, F b) { return a - b; }
  F mul(F a, F b) { return a * b; }
  F div(F a, F b) { return a / b; }
  F fma(F a, F b, F c) { return isa_fma(a, b, c); }
  F rint(F a) { return isa_rint(a); }
  I to_int(F a) { return __builtin_convertvector(a, I32); }  // of an integral value
  F to_float(I a) { return __builtin_convertvector(a, F32); }
  I bits(F a) { return same_bits<I>(a); }
  F from_bits(I a) { return same_bits<F>(a); }
  I iadd(I a, I b) { return same_bits<I>(same_bits<U>(a) + same_bits<U>(b)); }
  I isub(I a, I b) { return same_bits<I>(same_bits<U>(a) - same_bits<U>(b)); }
  I sra(I a, int n) { return a >> n; }
  I shl(I a, int n) { return same_bits<I>(same_bits<U>(a) << n); }
  M less(F a, F b) { return a < b; }
  M equal(F a, F b) { return a == b; }
  F select(M m, F a, F b) { return m ? a : b; }
  F scale(F p, F n) { return isa_scale(p, n); }
};

// p * 2^n in two exact steps and one rounding.
inline F32 scale_in_steps(F32 p, F32 n) {
  const I32 i = __builtin_convertvector(n, I32), half = i >> 1;
  const F32 first = same_bits<F32>((half + 127) << 23), second = same_bits<F32>((i - half + 127) << 23);
  return p * first * second;
}

}  // namespace
}  // namespace trine::codegen::interp
