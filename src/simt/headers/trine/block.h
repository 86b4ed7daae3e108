// Sums, prefix sums, sorting, histograms and loads of a block of 1 to 1024 threads, of any dimensions.
//
// All threads of the block call these together; each ends with a barrier where it uses shared memory, so that calls may
// follow each other. The shared memory is theirs: 32 values of each type, and a tile for each kind of sort.
#pragma once

#include "warp.h"

namespace trine {
namespace details {

// Shared memory for values, whatever their constructors.
template <class T, int kCount>
struct Room {
  alignas(T) unsigned char bytes[sizeof(T) * kCount];
  __TRINE_OPERATOR__ T* values() { return reinterpret_cast<T*>(bytes); }
};

__TRINE_DEVICE__ int block_warps() { return (block_threads() + 31) / 32; }

}  // namespace details

// x_0 op ... op x_(threads-1), in all threads; operands keep their order.
template <class T, class Op>
__TRINE_DEVICE__ T block_reduce(T value, Op op) {
  __shared__ details::Room<T, 32> room;
  value = warp_reduce(value, op, warp_lanes());
  if (block_threads() <= 32) return value;
  if (lane_rank() == 0) room.values()[thread_rank() / 32] = value;
  __syncthreads();
  // One after the other in every thread: the last warp need not have a lane for each sum.
  T sum = room.values()[0];
  for (int warp = 1; warp < details::block_warps(); ++warp) sum = op(sum, room.values()[warp]);
  __syncthreads();
  return sum;
}
template <class T>
__TRINE_DEVICE__ T block_reduce(T value) {
  return block_reduce(value, Plus{});
}

namespace details {

// The prefix within the warp, and by reference that of the warps before, where there are any, and all together.
template <class T, class Op>
__TRINE_DEVICE__ T scan_warps(T value, Op op, T& before, T& total) {
  __shared__ Room<T, 32> room;
  const int warp = thread_rank() / 32;
  value = warp_inclusive_scan(value, op);
  if (lane_rank() == warp_lanes() - 1) room.values()[warp] = value;
  __syncthreads();
  total = room.values()[0];
  before = total;
  for (int w = 1; w < block_warps(); ++w) {
    if (w == warp) before = total;
    total = op(total, room.values()[w]);
  }
  __syncthreads();
  return value;
}

}  // namespace details

// x_0 op ... op x_thread; `total` is that of all threads.
template <class T, class Op>
__TRINE_DEVICE__ T block_inclusive_scan(T value, Op op, T& total) {
  T before = value;
  value = details::scan_warps(value, op, before, total);
  return thread_rank() < 32 ? value : op(before, value);
}
template <class T, class Op>
__TRINE_DEVICE__ T block_inclusive_scan(T value, Op op) {
  T total = value;
  return block_inclusive_scan(value, op, total);
}
template <class T>
__TRINE_DEVICE__ T block_inclusive_scan(T value) {
  return block_inclusive_scan(value, Plus{});
}

// initial op x_0 op ... op x_(thread-1); in thread 0 `initial`. `total` is that of all threads, without `initial`.
template <class T, class Op>
__TRINE_DEVICE__ T block_exclusive_scan(T value, Op op, T initial, T& total) {
  T before = value;
  const T own = warp_from_before(details::scan_warps(value, op, before, total), 1);
  const T start = thread_rank() < 32 ? initial : op(initial, before);
  return lane_rank() == 0 ? start : op(start, own);
}
template <class T, class Op>
__TRINE_DEVICE__ T block_exclusive_scan(T value, Op op, T initial) {
  T total = value;
  return block_exclusive_scan(value, op, initial, total);
}
template <class T>
__TRINE_DEVICE__ T block_exclusive_scan(T value) {
  return block_exclusive_scan(value, Plus{}, T());
}

// Items of a thread: blocked, thread t has items t k to t k + k - 1 of the tile; striped, t, t + threads, t + 2
// threads... Those from `count` on are left as they are.
template <int kItems, class T>
__TRINE_DEVICE__ void block_load_blocked(const T* from, int count, T (&items)[kItems]) {
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (thread_rank() * kItems + i < count) items[i] = from[thread_rank() * kItems + i];
}
template <int kItems, class T>
__TRINE_DEVICE__ void block_load_striped(const T* from, int count, T (&items)[kItems]) {
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i * block_threads() + thread_rank() < count) items[i] = from[i * block_threads() + thread_rank()];
}
template <int kItems, class T>
__TRINE_DEVICE__ void block_store_blocked(T* to, int count, const T (&items)[kItems]) {
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (thread_rank() * kItems + i < count) to[thread_rank() * kItems + i] = items[i];
}
template <int kItems, class T>
__TRINE_DEVICE__ void block_store_striped(T* to, int count, const T (&items)[kItems]) {
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i * block_threads() + thread_rank() < count) to[i * block_threads() + thread_rank()] = items[i];
}

// How many of all items are 0, 1, ..., bins - 1; others are not counted. `counts` is shared memory of `bins` words, or
// memory of the block's own.
template <int kItems, class T>
__TRINE_DEVICE__ void block_histogram(unsigned* counts, int bins, const T (&items)[kItems], int valid_items = kItems) {
  for (int bin = thread_rank(); bin < bins; bin += block_threads()) counts[bin] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i < valid_items && items[i] >= T(0) && items[i] < T(bins)) atomicAdd(&counts[(int)items[i]], 1u);
  __syncthreads();
}

}  // namespace trine
