// Products of small matrices whose parts lie in the registers of a warp: lane 4 g + t holds row g (and g + 8) of the
// left one, column g of the right one, and columns 2 t and 2 t + 1 of the sum's rows. Values of other lanes come by
// shuffles. Sums are of exact products, in the order of k.
#pragma once

#include "memory.h"

namespace trine_ptx {

PTX u32 lane_number() { return static_cast<u32>(__nvvm_read_ptx_sreg_laneid()); }
PTX u32 from_lane(u32 value, u32 lane) { return __shfl_sync(~0u, value, static_cast<int>(lane)); }
PTX u64 from_lane(u64 value, u32 lane) { return __shfl_sync(~0u, value, static_cast<int>(lane)); }

// Bits of an element of a register.
template <class T>
inline constexpr unsigned element_bits = 8 * sizeof(T);
template <>
inline constexpr unsigned element_bits<s4> = 4;
template <>
inline constexpr unsigned element_bits<u4> = 4;
template <>
inline constexpr unsigned element_bits<b1> = 1;

template <class T, class Word>
PTX auto element(Word word, unsigned i) {
  const Word bits = word >> element_bits<T> % (8 * sizeof(Word)) * i;
  if constexpr (same<T, double>) return __builtin_bit_cast(double, word);
  else if constexpr (same<T, tf32>) return __builtin_bit_cast(float, word & ~0x1fffu);
  else if constexpr (same<T, s4>) return static_cast<s32>(bits << 28) >> 28;
  else if constexpr (same<T, u4>) return static_cast<s32>(bits & 15);
  else if constexpr (is_half<T>) return wide(T{static_cast<u16>(bits)});
  else return static_cast<s32>(static_cast<T>(bits));
}

template <Text op, class A, class B, class Sum, class Word>
PTX Sum multiplied(Sum sum, Word a, Word b) {
  if constexpr (same<A, b1>) {
    return sum + __popc(static_cast<int>(op.has("and") ? a & b : a ^ b));
  } else {
    constexpr unsigned count = 8 * sizeof(Word) / element_bits<A>;
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      if constexpr (same<Sum, s32>)
        sum = static_cast<s32>(static_cast<u32>(sum) + static_cast<u32>(element<A>(a, i) * element<B>(b, i)));
      else if constexpr (same<Sum, double>) sum = trine_math::fma(element<A>(a, i), element<B>(b, i), sum);
      else sum = trine_math::fma(element<A>(a, i), element<B>(b, i), sum);
    }
    return sum;
  }
}

// A line of a matrix, gathered from the four lanes that hold it: `chunks` registers of each belong to it.
template <class Word, unsigned chunks>
PTX void gather(Word (&line)[4 * chunks], const Word (&own)[chunks], u32 first_lane) {
#pragma unroll
  for (unsigned chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
    for (u32 t = 0; t < 4; ++t) line[4 * chunk + t] = from_lane(own[chunk], first_lane + t);
}

template <Text op, class A, class B, class Sum, class Word, unsigned words>
PTX Sum dot(Sum sum, const Word (&row)[words], const Word (&column)[words]) {
#pragma unroll
  for (unsigned i = 0; i < words; ++i) sum = multiplied<op, A, B>(sum, row[i], column[i]);
  return sum;
}

PTX s32 clamped(s64 x) { return static_cast<s32>(x > 2147483647 ? 2147483647 : x < -2147483648ll ? -2147483648ll : x); }

// mma d, a, b, c: `rows` is 1 or 2 rows of the left matrix for each lane, each of `chunks` registers.
template <Text op, class D, class A, class B, class C, unsigned rows, unsigned chunks, class... All>
PTX void multiply(All&&... all) {
  using Word = Bits<decltype([] {
    if constexpr (same<A, double>) return double();
    else return u32();
  }())>;
  constexpr bool packed = same<C, f16>;
  using Sum = decltype([] {
    if constexpr (same<C, f16>) return float();
    else return C();
  }());
  constexpr unsigned sums = packed ? rows : 2 * rows, first_a = sums, first_b = first_a + rows * chunks,
                     first_c = first_b + chunks;
  static_assert(sizeof...(All) == first_c + sums);
  Word left[rows][chunks], right[chunks];
  [&]<unsigned... i>(Numbers<i...>) {
    ((left[i % rows][i / rows] = as<Word>(pick<first_a + i>(all...))), ...);
  }(typename UpTo<rows * chunks>::type{});
  [&]<unsigned... i>(Numbers<i...>) {
    ((right[i] = as<Word>(pick<first_b + i>(all...))), ...);
  }(typename UpTo<chunks>::type{});
  const u32 lane = lane_number(), g = lane & ~3u, t = lane & 3;
  Word columns[2][4 * chunks];
  gather(columns[0], right, 8 * t);
  gather(columns[1], right, 8 * t + 4);
  [&]<unsigned... row>(Numbers<row...>) {
    (
        [&] {
          Sum sum[2];
          if constexpr (packed) {
            const f16x2 c = as<f16x2>(pick<first_c + row>(all...));
            sum[0] = wide(c.low);
            sum[1] = wide(c.high);
          } else {
            sum[0] = as<Sum>(pick<first_c + 2 * row>(all...));
            sum[1] = as<Sum>(pick<first_c + 2 * row + 1>(all...));
          }
          Word line[4 * chunks];
          gather(line, left[row], g);
          for (u32 i = 0; i < 2; ++i) {
            if constexpr (op.has("satfinite") && same<Sum, s32>)
              sum[i] = clamped(static_cast<s64>(sum[i]) + dot<op, A, B>(s32(0), line, columns[i]));
            else sum[i] = dot<op, A, B>(sum[i], line, columns[i]);
          }
          if constexpr (packed) {
            put(pick<row>(all...), f16x2{narrow<f16>(sum[0]), narrow<f16>(sum[1])});
          } else {
            put(pick<2 * row>(all...), sum[0]);
            put(pick<2 * row + 1>(all...), sum[1]);
          }
        }(),
        ...);
  }(typename UpTo<rows>::type{});
}

#define PTX_SHAPES                                                                                             \
  "sync aligned row col m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 " \
  "m16n8k256 satfinite xor and popc "
template <Text op>
constexpr unsigned depth() {
  if (op.has("m8n8k4") || op.has("m16n8k4")) return 4;
  if (op.has("m16n8k8")) return 8;
  if (op.has("m8n8k16") || op.has("m16n8k16")) return 16;
  if (op.has("m8n8k32") || op.has("m16n8k32")) return 32;
  if (op.has("m16n8k64")) return 64;
  return op.has("m16n8k256") ? 256 : 128;
}
template <Text op, class D, class A, class B, class C, class... All>
PTX void i_mma(All&&... all) {
  static_assert(op.only(PTX_SHAPES));
  constexpr bool tall = op.has("m16n8k4") || op.has("m16n8k8") || op.has("m16n8k16") || op.has("m16n8k32") ||
                        op.has("m16n8k64") || op.has("m16n8k128") || op.has("m16n8k256");
  constexpr unsigned of_four_lanes = 4 * (same<A, double> ? 1 : 32 / element_bits<A>);
  static_assert(depth<op>() % of_four_lanes == 0, "of another arrangement: m8n8k4 of f16");
  multiply<op, D, A, B, C, tall ? 2 : 1, depth<op>() / of_four_lanes>(all...);
}

// ldmatrix: the address of row r of matrix m is that of lane 8 m + r; a lane receives two elements of row lane / 4.
template <Text op>
inline constexpr unsigned matrices = op.has("x4")   ? 4
                                     : op.has("x2") ? 2
                                                    : 1;
template <Text op, class T, class... All>
PTX void i_ldmatrix(All&&... all) {
  static_assert(op.only("sync aligned m8n8 x1 x2 x4 trans shared "));
  constexpr unsigned count = matrices<op>;
  const u32 address = static_cast<u32>(pick<count>(all...).value), lane = lane_number();
  [&]<unsigned... m>(Numbers<m...>) {
    (
        [&] {
          if constexpr (op.has("trans")) {
            const u32 row = lane % 4 * 2, column = lane / 4 * 2;
            const u16 low = *static_cast<u16*>(shared(from_lane(address, 8 * m + row) + column));
            const u16 high = *static_cast<u16*>(shared(from_lane(address, 8 * m + row + 1) + column));
            put(pick<m>(all...), static_cast<u32>(high) << 16 | low);
          } else {
            put(pick<m>(all...), *static_cast<u32*>(shared(from_lane(address, 8 * m + lane / 4) + lane % 4 * 4)));
          }
        }(),
        ...);
  }(typename UpTo<count>::type{});
}
template <Text op, class T, class... All>
PTX void i_stmatrix(Address at, All... all) {
  static_assert(op.only("sync aligned m8n8 x1 x2 x4 trans shared "));
  const u32 address = static_cast<u32>(at.value), lane = lane_number();
  [&]<unsigned... m>(Numbers<m...>) {
    (
        [&] {
          const u32 value = as<u32>(pick<m>(all...));
          if constexpr (op.has("trans")) {
            const u32 row = lane % 4 * 2, column = lane / 4 * 2;
            *static_cast<u16*>(shared(from_lane(address, 8 * m + row) + column)) = static_cast<u16>(value);
            *static_cast<u16*>(shared(from_lane(address, 8 * m + row + 1) + column)) = static_cast<u16>(value >> 16);
          } else {
            *static_cast<u32*>(shared(from_lane(address, 8 * m + lane / 4) + lane % 4 * 4)) = value;
          }
        }(),
        ...);
  }(typename UpTo<matrices<op>>::type{});
  __syncwarp();
}
template <Text op, class T, class D, class A>
PTX void i_movmatrix(D& d, A x) {
  static_assert(op.only("sync aligned m8n8 trans "));
  const u32 value = as<u32>(x), lane = lane_number(), row = lane / 4, column = lane % 4 * 2;
  const u32 low = from_lane(value, column * 4 + row / 2), high = from_lane(value, (column + 1) * 4 + row / 2);
  const u32 shift = row % 2 * 16;
  put(d, (high >> shift & 65535) << 16 | (low >> shift & 65535));
}

}  // namespace trine_ptx
