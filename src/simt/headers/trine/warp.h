// Sums and prefix sums of a warp, for values of any trivially copyable type and any associative operator.
//
// All threads of the warp call these together. A block's last warp has as many lanes as there are threads left.
// Operands keep their order.
#pragma once

#include "operators.h"

namespace trine {

// Counts x first, then y, then z, as warps do.
__TRINE_DEVICE__ int thread_rank() {
  return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__TRINE_DEVICE__ int block_threads() { return (int)(blockDim.x * blockDim.y * blockDim.z); }
__TRINE_DEVICE__ int lane_rank() { return thread_rank() % 32; }
__TRINE_DEVICE__ int warp_lanes() {
  const int left = block_threads() - (thread_rank() & ~31);
  return left < 32 ? left : 32;
}

namespace details {

template <class T, class Move>
__TRINE_DEVICE__ T moved(const T& value, Move move) {
  static_assert(__is_trivially_copyable(T), "values are moved between lanes as words: T must be trivially copyable");
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = move(words[i]);
  T result = value;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

}  // namespace details

// What `lane` has.
template <class T>
__TRINE_DEVICE__ T warp_from(const T& value, int lane) {
  return details::moved(value, [lane](unsigned word) { return __shfl_sync(~0u, word, lane); });
}
// What the lane `distance` before or after has; where there is none, the own value.
template <class T>
__TRINE_DEVICE__ T warp_from_before(const T& value, int distance) {
  return details::moved(value, [distance](unsigned word) { return __shfl_up_sync(~0u, word, distance); });
}
template <class T>
__TRINE_DEVICE__ T warp_from_after(const T& value, int distance) {
  return details::moved(value, [distance](unsigned word) { return __shfl_down_sync(~0u, word, distance); });
}

// x_0 op ... op x_(count-1), in all lanes, where the first `count` lanes have values: all lanes if not given. 5 steps.
template <class T, class Op>
__TRINE_DEVICE__ T warp_reduce(T value, Op op, int count) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T other = warp_from_after(value, distance);
    // Of a full warp, lane 0 never meets what lanes at the end make of their own values.
    if (count == 32 || lane_rank() + distance < count) value = op(value, other);
  }
  return warp_from(value, 0);
}
template <class T, class Op>
__TRINE_DEVICE__ T warp_reduce(T value, Op op) {
  return warp_reduce(value, op, warp_lanes());
}
template <class T>
__TRINE_DEVICE__ T warp_reduce(T value) {
  return warp_reduce(value, Plus{});
}

// x_0 op ... op x_lane. 5 steps.
template <class T, class Op>
__TRINE_DEVICE__ T warp_inclusive_scan(T value, Op op) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T other = warp_from_before(value, distance);
    if (lane_rank() >= distance) value = op(other, value);
  }
  return value;
}
template <class T>
__TRINE_DEVICE__ T warp_inclusive_scan(T value) {
  return warp_inclusive_scan(value, Plus{});
}

// initial op x_0 op ... op x_(lane-1); in lane 0 `initial`.
template <class T, class Op>
__TRINE_DEVICE__ T warp_exclusive_scan(T value, Op op, T initial) {
  const T before = warp_from_before(warp_inclusive_scan(value, op), 1);
  return lane_rank() > 0 ? op(initial, before) : initial;
}
template <class T>
__TRINE_DEVICE__ T warp_exclusive_scan(T value) {
  return warp_exclusive_scan(value, Plus{}, T());
}

}  // namespace trine
