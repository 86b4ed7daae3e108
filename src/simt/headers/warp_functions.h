// Barriers, votes, matches, shuffles and reductions.
#pragma once

#include "host_defines.h"

// __syncthreads() is known to the compiler.
__TRINE_DEVICE__ int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
__TRINE_DEVICE__ int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
__TRINE_DEVICE__ int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
__TRINE_DEVICE__ void __barrier_sync(unsigned id) { __nvvm_barrier_sync(id); }
__TRINE_DEVICE__ void __barrier_sync_count(unsigned id, unsigned threads) { __nvvm_barrier_sync_cnt(id, threads); }
__TRINE_DEVICE__ void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

__TRINE_DEVICE__ void __threadfence_block() { __nvvm_membar_cta(); }
__TRINE_DEVICE__ void __threadfence() { __nvvm_membar_gl(); }
__TRINE_DEVICE__ void __threadfence_system() { __nvvm_membar_sys(); }

__TRINE_DEVICE__ int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
__TRINE_DEVICE__ int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
__TRINE_DEVICE__ int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
__TRINE_DEVICE__ unsigned __ballot_sync(unsigned mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
__TRINE_DEVICE__ unsigned __activemask() { return __nvvm_activemask(); }

// The shuffles of PTX move 32 bits; wider values go in halves. Lanes outside a segment keep their own value.
#define __TRINE_SHUFFLE__(name, instruction, lane_type, clamp)                                                    \
  __TRINE_DEVICE__ int name(unsigned mask, int value, lane_type lane, int width = warpSize) {                     \
    return __nvvm_shfl_sync_##instruction##_i32(mask, value, lane, ((warpSize - width) << 8) | clamp);            \
  }                                                                                                               \
  __TRINE_DEVICE__ unsigned name(unsigned mask, unsigned value, lane_type lane, int width = warpSize) {           \
    return (unsigned)name(mask, (int)value, lane, width);                                                         \
  }                                                                                                               \
  __TRINE_DEVICE__ float name(unsigned mask, float value, lane_type lane, int width = warpSize) {                 \
    return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(int, value), lane, width));                    \
  }                                                                                                               \
  __TRINE_DEVICE__ unsigned long long name(unsigned mask, unsigned long long value, lane_type lane,               \
                                           int width = warpSize) {                                                \
    const unsigned low = name(mask, (unsigned)value, lane, width);                                                \
    const unsigned high = name(mask, (unsigned)(value >> 32), lane, width);                                       \
    return (unsigned long long)high << 32 | low;                                                                  \
  }                                                                                                               \
  __TRINE_DEVICE__ long long name(unsigned mask, long long value, lane_type lane, int width = warpSize) {         \
    return (long long)name(mask, (unsigned long long)value, lane, width);                                         \
  }                                                                                                               \
  __TRINE_DEVICE__ unsigned long name(unsigned mask, unsigned long value, lane_type lane, int width = warpSize) { \
    return name(mask, (unsigned long long)value, lane, width);                                                    \
  }                                                                                                               \
  __TRINE_DEVICE__ long name(unsigned mask, long value, lane_type lane, int width = warpSize) {                   \
    return (long)name(mask, (unsigned long long)value, lane, width);                                              \
  }                                                                                                               \
  __TRINE_DEVICE__ double name(unsigned mask, double value, lane_type lane, int width = warpSize) {               \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, value), lane, width));    \
  }
__TRINE_SHUFFLE__(__shfl_sync, idx, int, 31)
__TRINE_SHUFFLE__(__shfl_up_sync, up, unsigned, 0)
__TRINE_SHUFFLE__(__shfl_down_sync, down, unsigned, 31)
__TRINE_SHUFFLE__(__shfl_xor_sync, bfly, int, 31)
#undef __TRINE_SHUFFLE__

// Bits that are the same, whatever the type: 4 bytes or 8.
template <class T>
__TRINE_DEVICE__ unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes values of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned, value));
  else return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(unsigned long long, value));
}
template <class T>
__TRINE_DEVICE__ unsigned __match_all_sync(unsigned mask, T value, int* all) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_all_sync takes values of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(unsigned, value), all);
  else return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(unsigned long long, value), all);
}

// Of the lanes in the mask. Built from shuffles: PTX's redux begins with sm_80.
#define __TRINE_REDUCE__(name, type, expression)                             \
  __TRINE_DEVICE__ type name(unsigned mask, type value) {                    \
    if (mask == 0xffffffffu) {                                               \
      for (int distance = 16; distance; distance /= 2) {                     \
        const type a = value, b = __shfl_xor_sync(mask, value, distance);    \
        value = expression;                                                  \
      }                                                                      \
      return value;                                                          \
    }                                                                        \
    unsigned left = mask & (mask - 1);                                       \
    type sum = __shfl_sync(mask, value, __builtin_ctz(mask));                \
    for (; left; left &= left - 1) {                                         \
      const type a = sum, b = __shfl_sync(mask, value, __builtin_ctz(left)); \
      sum = expression;                                                      \
    }                                                                        \
    return sum;                                                              \
  }
__TRINE_REDUCE__(__reduce_add_sync, unsigned, a + b)
__TRINE_REDUCE__(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
__TRINE_REDUCE__(__reduce_min_sync, unsigned, a < b ? a : b)
__TRINE_REDUCE__(__reduce_min_sync, int, a < b ? a : b)
__TRINE_REDUCE__(__reduce_max_sync, unsigned, a < b ? b : a)
__TRINE_REDUCE__(__reduce_max_sync, int, a < b ? b : a)
__TRINE_REDUCE__(__reduce_and_sync, unsigned, a& b)
__TRINE_REDUCE__(__reduce_or_sync, unsigned, a | b)
__TRINE_REDUCE__(__reduce_xor_sync, unsigned, a ^ b)
#undef __TRINE_REDUCE__
