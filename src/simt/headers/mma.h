// nvcuda::wmma: products of small matrices, by all threads of a warp.
//
//   16x16x16, 32x8x16, 8x32x16   half -> half or float, __nv_bfloat16 -> float, signed and unsigned char -> int
//   16x16x8                      precision::tf32 -> float
//   8x8x4                        double -> double
//
// A fragment lies in registers as `mma.sync` wants them, so that mma_sync is one or two such instructions. Lane
// 4 g + t holds, of a matrix to be multiplied, words of 4 bytes (8 for double) along k: lines g, g + 8, ..., where a
// line is a row of the left one or a column of the right one; of a sum, the pairs 2 t and 2 t + 1 of row g. The shape
// 8x32x16 is the transposed product of 32x8x16. Each element lies in one lane, at one place of x.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++17-extensions"
#endif

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

__TRINE_DEVICE__ float __float_to_tf32(float x) {
  // To nearest, ties away from zero, as cvt.rna.tf32.
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return (bits & 0x7f800000u) == 0x7f800000u ? x : __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu);
}

namespace trine_details {

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class T>
struct Stored {
  typedef T type;
};
template <>
struct Stored<precision::tf32> {
  typedef float type;
};

// Where elements lie. A line has `kDepth` elements along k.
template <int m, int n, int k, class T>
struct Shape {
  static constexpr bool kShort = m == 8 && n == 32;  // its right operand is the one of 16 lines
  static constexpr bool kBytes = kSame<T, signed char> || kSame<T, unsigned char> || kSame<T, char>;
  static constexpr bool kLarge = k == 16 && (m == 16 ? n == 16 : m == 32 ? n == 8 : kShort);
  static constexpr bool kOperand = kSame<T, double> ? m == 8 && n == 8 && k == 4
                                   : kSame<T, precision::tf32>
                                       ? m == 16 && n == 16 && k == 8
                                       : (kSame<T, __half> || kSame<T, __nv_bfloat16> || kBytes) && kLarge;
  static constexpr bool kSum = kSame<T, double>  ? m == 8 && n == 8 && k == 4
                               : kSame<T, float> ? kLarge || (m == 16 && n == 16 && k == 8)
                                                 : (kSame<T, __half> || kSame<T, int>) && kLarge;
};

struct Place {
  int row, column;
};

__TRINE_DEVICE__ int lane_number() {
#ifdef __CUDA_ARCH__
  return __nvvm_read_ptx_sreg_laneid();
#else
  return 0;
#endif
}

// Of a matrix to be multiplied. kLeft: it has 16 lines for one mma (8 for double), else 8.
template <int kLines, int kDepth, bool kLeft, class T>
struct OperandPlaces {
  static constexpr int kEach = sizeof(T) >= 4 ? 1 : 4 / (int)sizeof(T);
  static constexpr int kEights = kLeft && sizeof(T) < 8 ? 2 : 1;
  static constexpr int kChunks = kDepth / (4 * kEach);
  static constexpr int kWords = kEights * kChunks;  // for one mma
  static constexpr int kCount = kLines * kDepth / 32;
  static_assert(kWords * kEach * (kLines / (8 * kEights)) == kCount, "every element lies somewhere");

  // Of the first element of word w: the line, and its place in the line.
  __TRINE_DEVICE__ Place of_word(int w) {
    const int lane = lane_number(), tile = w / kWords, in_tile = w % kWords;
    return Place{(tile * kEights + in_tile % kEights) * 8 + lane / 4, (in_tile / kEights * 4 + lane % 4) * kEach};
  }
};

// Of sums: tiles of 16 by 8 (8 by 8 for double), pairs beside each other. Transposed where the shape is kShort.
template <int m, int n, class T>
struct SumPlaces {
  static constexpr bool kTransposed = m == 8 && n == 32;
  static constexpr int kRight = (kTransposed ? m : n) / 8;
  static constexpr int kPairs = sizeof(T) == 8 ? 1 : 2;
  static constexpr int kCount = m * n / 32;

  __TRINE_DEVICE__ Place of_pair(int p) {
    const int lane = lane_number(), tile = p / kPairs;
    return Place{(tile / kRight * kPairs + p % kPairs) * 8 + lane / 4, tile % kRight * 8 + lane % 4 * 2};
  }
};

// kCount elements that lie beside each other, in one access: pointers and strides of matrices are multiples of 16
// bytes.
template <int kCount, class T>
__TRINE_DEVICE__ void copy_together(T* to, const T* from) {
  struct __attribute__((aligned(kCount * sizeof(T)), may_alias)) Word {
    T value[kCount];
  };
  const Word word = *reinterpret_cast<const Word*>(from);
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = word.value[i];
}
template <int kCount, class T>
__TRINE_DEVICE__ void store_together(T* to, const T* from) {
  struct __attribute__((aligned(kCount * sizeof(T)), may_alias)) Word {
    T value[kCount];
  } word;
#pragma unroll
  for (int i = 0; i < kCount; ++i) word.value[i] = from[i];
  *reinterpret_cast<Word*>(to) = word;
}

template <class T>
__TRINE_DEVICE__ unsigned word_of(const T* elements) {
  unsigned word;
  __builtin_memcpy(&word, elements, sizeof word);
  return word;
}

}  // namespace trine_details

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static constexpr bool kSum = trine_details::kSame<Use, accumulator>, kFirst = trine_details::kSame<Use, matrix_a>;
  static_assert(kSum || kFirst || trine_details::kSame<Use, matrix_b>,
                "a fragment is of matrix_a, matrix_b or accumulator");
  static_assert(!kSum || trine_details::kSame<Layout, void>, "an accumulator has no layout");
  static_assert(kSum || trine_details::kSame<Layout, row_major> || trine_details::kSame<Layout, col_major>,
                "the layout of matrix_a and matrix_b is row_major or col_major");
  static_assert(kSum ? trine_details::Shape<m, n, k, T>::kSum : trine_details::Shape<m, n, k, T>::kOperand,
                "wmma: no such shape for this type; see mma.h");

 public:
  typedef T element_type;
  typedef typename trine_details::Stored<T>::type storage_element_type;
  static constexpr int num_elements = (kSum ? m * n : kFirst ? m * k : n * k) / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

template <class Use, int m, int n, int k, class T, class Layout, class Value>
__TRINE_DEVICE__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const Value& value) {
  typedef typename fragment<Use, m, n, k, T, Layout>::storage_element_type Stored;
  const Stored stored = static_cast<Stored>(value);
#pragma unroll
  for (int i = 0; i < to.num_elements; ++i) to.x[i] = stored;
}

namespace trine_details {

// Lines lie `stride` apart, their elements beside each other; or the other way round.
template <class Places, bool kAlong, class T>
__TRINE_DEVICE__ void load_operand(T* to, const T* from, unsigned stride) {
#pragma unroll
  for (int w = 0; w < Places::kCount / Places::kEach; ++w) {
    const Place at = Places::of_word(w);
    if constexpr (kAlong) {
      copy_together<Places::kEach>(to + w * Places::kEach, from + (size_t)at.row * stride + at.column);
    } else {
#pragma unroll
      for (int e = 0; e < Places::kEach; ++e)
        to[w * Places::kEach + e] = from[(size_t)(at.column + e) * stride + at.row];
    }
  }
}

}  // namespace trine_details

template <int m, int n, int k, class T, class Layout>
__TRINE_DEVICE__ void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& to,
                                       const typename trine_details::Stored<T>::type* from, unsigned stride) {
  using Places = trine_details::OperandPlaces<m, k, !trine_details::Shape<m, n, k, T>::kShort,
                                              typename trine_details::Stored<T>::type>;
  __syncwarp();
  trine_details::load_operand<Places, trine_details::kSame<Layout, row_major>>(to.x, from, stride);
}
template <int m, int n, int k, class T, class Layout>
__TRINE_DEVICE__ void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& to,
                                       const typename trine_details::Stored<T>::type* from, unsigned stride) {
  using Places = trine_details::OperandPlaces<n, k, trine_details::Shape<m, n, k, T>::kShort,
                                              typename trine_details::Stored<T>::type>;
  __syncwarp();
  trine_details::load_operand<Places, trine_details::kSame<Layout, col_major>>(to.x, from, stride);
}
template <int m, int n, int k, class T>
__TRINE_DEVICE__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned stride,
                                       layout_t layout) {
  using Places = trine_details::SumPlaces<m, n, T>;
  __syncwarp();
#pragma unroll
  for (int p = 0; p < Places::kCount / 2; ++p) {
    const trine_details::Place at = Places::of_pair(p);
    if ((layout == mem_col_major) == Places::kTransposed) {
      trine_details::copy_together<2>(to.x + 2 * p, from + (size_t)at.row * stride + at.column);
    } else {
      to.x[2 * p] = from[(size_t)at.column * stride + at.row];
      to.x[2 * p + 1] = from[(size_t)(at.column + 1) * stride + at.row];
    }
  }
}

template <int m, int n, int k, class T>
__TRINE_DEVICE__ void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                                        layout_t layout) {
  using Places = trine_details::SumPlaces<m, n, T>;
#pragma unroll
  for (int p = 0; p < Places::kCount / 2; ++p) {
    const trine_details::Place at = Places::of_pair(p);
    if ((layout == mem_col_major) == Places::kTransposed) {
      trine_details::store_together<2>(to + (size_t)at.row * stride + at.column, from.x + 2 * p);
    } else {
      to[(size_t)at.column * stride + at.row] = from.x[2 * p];
      to[(size_t)(at.column + 1) * stride + at.row] = from.x[2 * p + 1];
    }
  }
  __syncwarp();
}

namespace trine_details {

// One mma: d = a b + c, where a has 16 lines and b has 8 (both 8 for double).
#define __TRINE_MMA_FLOAT__(name, instruction)                                                                        \
  __TRINE_DEVICE__ void name(float* d, const unsigned* a, const unsigned* b, const float* c) {                        \
    asm volatile("mma.sync.aligned." instruction                                                                      \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                               \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), \
                   "f"(c[3]));                                                                                        \
  }
__TRINE_MMA_FLOAT__(multiply_half, "m16n8k16.row.col.f32.f16.f16.f32")
__TRINE_MMA_FLOAT__(multiply_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
__TRINE_MMA_FLOAT__(multiply_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef __TRINE_MMA_FLOAT__
#define __TRINE_MMA_INT__(name, instruction)                                                             \
  __TRINE_DEVICE__ void name(int* d, const unsigned* a, const unsigned* b, const int* c) {               \
    asm volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                        \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));         \
  }
__TRINE_MMA_INT__(multiply_s8, "m16n8k16.row.col.s32.s8.s8.s32")
__TRINE_MMA_INT__(multiply_u8, "m16n8k16.row.col.s32.u8.u8.s32")
__TRINE_MMA_INT__(multiply_clamped_s8, "m16n8k16.row.col.satfinite.s32.s8.s8.s32")
__TRINE_MMA_INT__(multiply_clamped_u8, "m16n8k16.row.col.satfinite.s32.u8.u8.s32")
#undef __TRINE_MMA_INT__
__TRINE_DEVICE__ void multiply_to_half(__half* d, const unsigned* a, const unsigned* b, const __half* c) {
  unsigned sums[2];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
               : "=r"(sums[0]), "=r"(sums[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(word_of(c)),
                 "r"(word_of(c + 2)));
  __builtin_memcpy(d, sums, sizeof sums);
}
__TRINE_DEVICE__ void multiply_double(double* d, double a, double b, const double* c) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
}

template <class T, class Sum>
__TRINE_DEVICE__ void multiply(Sum* d, const unsigned* a, const unsigned* b, const Sum* c, bool clamped) {
  if constexpr (kSame<Sum, __half>) multiply_to_half(d, a, b, c);
  else if constexpr (kSame<T, __half>) multiply_half(d, a, b, c);
  else if constexpr (kSame<T, __nv_bfloat16>) multiply_bf16(d, a, b, c);
  else if constexpr (kSame<T, precision::tf32>) multiply_tf32(d, a, b, c);
  else if constexpr (kSame<T, unsigned char>) clamped ? multiply_clamped_u8(d, a, b, c) : multiply_u8(d, a, b, c);
  else clamped ? multiply_clamped_s8(d, a, b, c) : multiply_s8(d, a, b, c);
}

// `left` has tiles of 16 lines, `right` of 8.
template <class T, int left_tiles, int right_tiles, int words, class Stored, class Sum>
__TRINE_DEVICE__ void multiply_tiles(Sum* d, const Stored* left, const Stored* right, const Sum* c, bool clamped) {
  constexpr int each = 4 / sizeof(Stored);
#pragma unroll
  for (int i = 0; i < left_tiles; ++i)
#pragma unroll
    for (int j = 0; j < right_tiles; ++j) {
      unsigned a[2 * words], b[words];
#pragma unroll
      for (int w = 0; w < 2 * words; ++w) a[w] = word_of(left + (i * 2 * words + w) * each);
#pragma unroll
      for (int w = 0; w < words; ++w) b[w] = word_of(right + (j * words + w) * each);
      const int tile = (i * right_tiles + j) * 4;
      multiply<T>(d + tile, a, b, c + tile, clamped);
    }
}

// Sums of halves are made of halves only where both c and d are; else of floats.
template <class D, class C>
struct SumType {
  typedef C type;
};
template <>
struct SumType<float, __half> {
  typedef float type;
};

}  // namespace trine_details

// d = a b + c. `clamped`: sums of integers end at the largest and the smallest int; else they wrap.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
__TRINE_DEVICE__ void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                               const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                               const fragment<accumulator, m, n, k, C>& c, bool clamped = false) {
  typedef typename trine_details::SumType<D, C>::type Sum;
  typedef typename trine_details::Stored<T>::type Stored;
  static_assert(trine_details::kSame<T, __half> ? trine_details::kSame<Sum, float> || trine_details::kSame<Sum, __half>
                : trine_details::kSame<T, double> ? trine_details::kSame<Sum, double>
                : sizeof(Stored) == 1             ? trine_details::kSame<Sum, int>
                                                  : trine_details::kSame<Sum, float>,
                "wmma: these are not summed in that type");
  Sum sums[m * n / 32];
#pragma unroll
  for (int i = 0; i < d.num_elements; ++i) sums[i] = static_cast<Sum>(c.x[i]);
  if constexpr (trine_details::kSame<T, double>) {
    trine_details::multiply_double(sums, a.x[0], b.x[0], sums);
  } else {
    constexpr int words = k * (int)sizeof(Stored) / 16;
    if constexpr (trine_details::Shape<m, n, k, T>::kShort)
      trine_details::multiply_tiles<T, n / 16, m / 8, words>(sums, b.x, a.x, sums, clamped);
    else trine_details::multiply_tiles<T, m / 16, n / 8, words>(sums, a.x, b.x, sums, clamped);
  }
#pragma unroll
  for (int i = 0; i < d.num_elements; ++i) d.x[i] = static_cast<D>(sums[i]);
}

}  // namespace wmma
}  // namespace nvcuda

#ifdef __clang__
#pragma clang diagnostic pop
#endif
