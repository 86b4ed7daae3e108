// What loop kernels are written in: scalar operations with the meaning that codegen/interp_compute.h gives
// them, folds, and the ways threads share a point. src/codegen/cuda writes the kernels.
#pragma once

#include "divider.cuh"
#include "loop_types.cuh"
#include "overlap.cuh"

#pragma clang fp contract(off)  // an fma stands only where the formula has one

namespace loops {

// --- scalar operations ---

template <class T>
constexpr bool is_float = T(0.5) != T(0);
template <class T>
constexpr bool is_signed = T(-1) < T(0);

// Integers wrap: they are added, subtracted and multiplied as unsigned ones.
template <class T>
struct Wrapping {
  using type = T;
};
template <>
struct Wrapping<int> {
  using type = unsigned;
};
template <>
struct Wrapping<long long> {
  using type = unsigned long long;
};
template <class T>
using Wrap = typename Wrapping<T>::type;

template <class T>
__device__ inline T add(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}
template <class T>
__device__ inline T sub(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
}
template <class T>
__device__ inline T mul(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
template <class T>
__device__ inline T neg(T a) {
  if constexpr (is_float<T>) return -a;
  else return static_cast<T>(Wrap<T>(0) - static_cast<Wrap<T>>(a));
}
template <class T>
__device__ inline T abs(T a) {
  if constexpr (is_float<T>) return __builtin_elementwise_abs(a);
  else if constexpr (is_signed<T>) return a < 0 ? neg(a) : a;
  else return a;
}
template <class T>
__device__ inline T sign(T a) {
  if constexpr (is_signed<T>) return a > T(0) ? T(1) : a < T(0) ? T(-1) : a;
  else return a > T(0) ? T(1) : a;
}
// A NaN is kept: the first operand's, else the second's.
template <class T>
__device__ inline T min(T a, T b) {
  return a != a ? a : a < b ? a : b;
}
template <class T>
__device__ inline T max(T a, T b) {
  return a != a ? a : b < a ? a : b;
}

__device__ inline float sqrt(float a) { return sqrtf(a); }
__device__ inline double sqrt(double a) { return ::sqrt(a); }
template <class T>
__device__ inline T reciprocal(T a) {
  return T(1) / a;
}
template <class T>
__device__ inline bool is_inf(T a) {
  return abs(a) == static_cast<T>(__builtin_inf());
}

// Quotients of integers: x / 0 is 0. 64-bit division takes a hundred instructions, indices are small mostly.
template <class T>
__device__ inline bool both_short(T a, T b) {
  return ((static_cast<unsigned long long>(a) | static_cast<unsigned long long>(b)) >> 32) == 0;
}
template <class T>
__device__ inline T div(T a, T b) {
  if constexpr (is_float<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (is_signed<T>) {
      if (b == T(-1)) return neg(a);
    }
    if constexpr (sizeof(T) == 8) {
      if (both_short(a, b)) return static_cast<T>(static_cast<unsigned>(a) / static_cast<unsigned>(b));
    }
    return a / b;
  }
}
template <class T>
__device__ inline T fmod(T a, T b) {  // with a's sign
  if constexpr (is_float<T>) {
    if constexpr (sizeof(T) == 4) return fmodf(a, b);
    else return ::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (is_signed<T>) {
      if (b == T(-1)) return 0;
    }
    if constexpr (sizeof(T) == 8) {
      if (both_short(a, b)) return static_cast<T>(static_cast<unsigned>(a) % static_cast<unsigned>(b));
    }
    return a % b;
  }
}
template <class T>
__device__ inline T mod(T a, T b) {  // with b's sign
  const T r = fmod(a, b);
  if constexpr (is_float<T>) return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(static_cast<double>(r) + b) : r;
  else if constexpr (is_signed<T>) return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  else return r;
}
// Integers: by squaring; a negative exponent gives 0 but for the bases 1 and -1.
template <class T>
__device__ inline T pow(T a, T b) {
  if constexpr (is_float<T>) {
    if constexpr (sizeof(T) == 4) return powf(a, b);
    else return ::pow(a, b);
  } else {
    if constexpr (is_signed<T>) {
      if (b < 0) return a == 1 ? T(1) : a == T(-1) ? ((b & 1) ? T(-1) : T(1)) : T(0);
    }
    unsigned long long result = 1, base = static_cast<unsigned long long>(a);
    for (auto e = static_cast<unsigned long long>(b); e; e >>= 1, base *= base)
      if (e & 1) result *= base;
    return static_cast<T>(result);
  }
}
template <class T>
__device__ inline T shift_left(T a, T b) {
  return static_cast<unsigned long long>(b) >= 8 * sizeof(T) ? T(0)
                                                             : static_cast<T>(static_cast<unsigned long long>(a) << b);
}
template <class T>
__device__ inline T shift_right(T a, T b) {
  return static_cast<unsigned long long>(b) >= 8 * sizeof(T) ? (a < T(0) ? T(-1) : T(0)) : static_cast<T>(a >> b);
}

// To nearest, half to even, |x| < 2^22: adding 1.5 * 2^23 leaves no places behind the point. Conversions are slow.
__device__ inline float rounded(float x) { return (x + 12582912.f) - 12582912.f; }
// p * 2^n for integral n in [-160, 160], rounded once.
__device__ inline float scaled(float p, float n) {
  const int i = bits_as<int>(n + 12582912.f) - bits_as<int>(12582912.f), half = i >> 1;
  const auto power = [](int e) { return bits_as<float>((static_cast<unsigned>(e) << 23) + 0x3f800000u); };
  return p * power(half) * power(i - half);
}

// Truncates and saturates; NaN becomes 0. `low` and `high` are a narrower type's range.
template <class To, class From>
__device__ inline To converted(From x, int low = -2147483647 - 1, int high = 2147483647) {
  if constexpr (__is_same(To, bool)) {
    return x != From(0);
  } else if constexpr (!__is_same(From, bool) && is_float<From> && !is_float<To>) {
    constexpr int kDigits = 8 * static_cast<int>(sizeof(To)) - (is_signed<To> ? 1 : 0);
    constexpr From kTop = static_cast<From>(kDigits == 31   ? 0x1p31
                                            : kDigits == 32 ? 0x1p32
                                            : kDigits == 63 ? 0x1p63
                                                            : 0x1p64);
    constexpr From kBottom = is_signed<To> ? -kTop : From(0);
    constexpr To kLeast = is_signed<To> ? static_cast<To>(1ull << (8 * sizeof(To) - 1)) : To(0);
    if (x != x) return 0;
    To t = x >= kTop ? static_cast<To>(~kLeast) : x <= kBottom ? kLeast : static_cast<To>(x);
    if constexpr (sizeof(To) == 4 && is_signed<To>) t = t < low ? low : t > high ? high : t;
    return t;
  } else {
    return static_cast<To>(x);
  }
}
template <int kBits, bool kSigned>
__device__ inline int wrapped(int x) {
  const unsigned high = static_cast<unsigned>(x) << (32 - kBits);
  return kSigned ? static_cast<int>(high) >> (32 - kBits) : static_cast<int>(high >> (32 - kBits));
}

// --- folds ---

template <class T>
constexpr T kLowest = is_float<T>    ? static_cast<T>(-__builtin_inf())
                      : is_signed<T> ? static_cast<T>(1ull << (8 * sizeof(T) - 1))
                                     : T(0);
template <class T>
constexpr T kHighest = is_float<T>    ? static_cast<T>(__builtin_inf())
                       : is_signed<T> ? static_cast<T>(~(1ull << (8 * sizeof(T) - 1)))
                                      : static_cast<T>(~0ull);

template <class T>
struct Sum {
  static constexpr T kIdentity = T(0);
  __device__ static T join(T a, T b) { return add(a, b); }
};
template <class T>
struct Prod {
  static constexpr T kIdentity = T(1);
  __device__ static T join(T a, T b) { return mul(a, b); }
};
template <class T>
struct Min {
  static constexpr T kIdentity = kHighest<T>;
  __device__ static T join(T a, T b) { return min(a, b); }
};
template <class T>
struct Max {
  static constexpr T kIdentity = kLowest<T>;
  __device__ static T join(T a, T b) { return max(a, b); }
};
template <class T>
struct Any {
  static constexpr T kIdentity = false;
  __device__ static T join(T a, T b) { return a || b; }
};
template <class T>
struct All {
  static constexpr T kIdentity = true;
  __device__ static T join(T a, T b) { return a && b; }
};

// --- packs: neighbours in memory that a thread takes in pieces of at most 16 bytes ---

template <int kBytes>
struct PieceOf;
template <>
struct PieceOf<1> {
  using type = unsigned char;
};
template <>
struct PieceOf<2> {
  using type = unsigned short;
};
template <>
struct PieceOf<4> {
  using type = unsigned;
};
template <>
struct PieceOf<8> {
  typedef unsigned type __attribute__((ext_vector_type(2)));
};
template <>
struct PieceOf<16> {
  typedef unsigned type __attribute__((ext_vector_type(4)));
};
template <int kWidth, class M>
constexpr int kPieceElements = kWidth * sizeof(M) > 16 ? 16 / sizeof(M) : kWidth;
template <class M, int kCount>
struct Elements {
  M at[kCount];
};

template <int kWidth, class M>
__device__ inline bool is_aligned(const M* p) {
  return reinterpret_cast<unsigned long long>(p) % (kPieceElements<kWidth, M> * sizeof(M)) == 0;
}

template <bool kWide, int kWidth, class C, class M>
__device__ inline void load_pack(C (&to)[kWidth], const M* from) {
  if constexpr (kWide) {
    constexpr int kCount = kPieceElements<kWidth, M>;
    using Piece = typename PieceOf<kCount * sizeof(M)>::type;
#pragma unroll
    for (int i = 0; i < kWidth; i += kCount) {
      const auto piece = bits_as<Elements<M, kCount>>(*reinterpret_cast<const Piece*>(from + i));
#pragma unroll
      for (int j = 0; j < kCount; ++j) to[i + j] = value(piece.at[j]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = value(from[i]);
  }
}
// Of the first m; the others are 0.
template <bool kWide, int kWidth, class C, class M>
__device__ inline void load_pack(C (&to)[kWidth], const M* from, int m) {
  if (m == kWidth) return load_pack<kWide>(to, from);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) to[i] = i < m ? value(from[i]) : C(0);
}

template <bool kWide, int kWidth, class C, class M>
__device__ inline void store_pack(M* to, const C (&from)[kWidth]) {
  if constexpr (kWide) {
    constexpr int kCount = kPieceElements<kWidth, M>;
    using Piece = typename PieceOf<kCount * sizeof(M)>::type;
#pragma unroll
    for (int i = 0; i < kWidth; i += kCount) {
      Elements<M, kCount> piece;
#pragma unroll
      for (int j = 0; j < kCount; ++j) piece.at[j] = Stored<M>::of(from[i + j]);
      *reinterpret_cast<Piece*>(to + i) = bits_as<Piece>(piece);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = Stored<M>::of(from[i]);
  }
}
template <bool kWide, int kWidth, class C, class M>
__device__ inline void store_pack(M* to, const C (&from)[kWidth], int m) {
  if (m == kWidth) return store_pack<kWide>(to, from);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    if (i < m) to[i] = Stored<M>::of(from[i]);
}

// --- joining what the threads of a team have; all of them get the result ---

template <class Fold, int kWidth, class T>
__device__ inline T join_pack(const T (&a)[kWidth]) {
  T part[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) part[i] = a[i];
#pragma unroll
  for (int half = kWidth / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) part[i] = Fold::join(part[i], part[i + half]);
  return part[0];
}

template <class T>
__device__ inline T from_neighbour(T x, int distance) {
  return __shfl_xor_sync(0xffffffff, x, distance);
}
__device__ inline bool from_neighbour(bool x, int distance) {
  return __shfl_xor_sync(0xffffffff, static_cast<int>(x), distance) != 0;
}
// As the interpreter joins its 32 lanes: the furthest first.
template <class Fold, int kTeam, class T>
__device__ inline T join_lanes(T x) {
#pragma unroll
  for (int distance = kTeam / 2; distance > 0; distance /= 2) x = Fold::join(x, from_neighbour(x, distance));
  return x;
}
// kTeam threads: a part of a warp, or a block of whole warps.
template <class Fold, int kTeam, class T>
__device__ inline T join_team(T x) {
  if constexpr (kTeam <= 32) {
    return join_lanes<Fold, kTeam>(x);
  } else {
    constexpr int kWarps = kTeam / 32;
    __shared__ T parts[kWarps];
    x = join_lanes<Fold, 32>(x);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = join_lanes<Fold, kWarps>(parts[threadIdx.x % kWarps]);
    __syncthreads();
    return x;
  }
}

// The team of column x are the threads (x, 0), (x, 1) ...
template <class Fold, int kX, int kY, int kWidth, class T>
__device__ inline void join_columns(T (&v)[kWidth]) {
  __shared__ T parts[kY][kWidth][kX];
  const int x = threadIdx.x;
#pragma unroll
  for (int u = 0; u < kWidth; ++u) parts[threadIdx.y][u][x] = v[u];
  __syncthreads();
  for (int u = threadIdx.y; u < kWidth; u += kY) {
    T sum = parts[0][u][x];
#pragma unroll
    for (int y = 1; y < kY; ++y) sum = Fold::join(sum, parts[y][u][x]);
    parts[0][u][x] = sum;
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < kWidth; ++u) v[u] = parts[0][u][x];
  __syncthreads();
}
template <class Fold, int kX, int kY, class T>
__device__ inline void join_columns(T& v) {
  T one[1] = {v};
  join_columns<Fold, kX, kY>(one);
  v = one[0];
}

}  // namespace loops
