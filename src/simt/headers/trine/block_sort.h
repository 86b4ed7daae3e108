// block_sort: a stable merge sort of the items of a block.
#pragma once

#include "block.h"

namespace trine {
namespace details {

// Of two sorted ranges, how many of the first are among the `diagonal` smallest of both. Of equals, those of `a` go
// first. A binary search along a diagonal of the table of comparisons (Odeh, Green and others, 2012).
template <class Index, class T, class Less>
__TRINE_DEVICE__ Index merge_split(const T* a, Index a_count, const T* b, Index b_count, Index diagonal, Less less) {
  Index low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (less(b[diagonal - 1 - middle], a[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The next kItems of both, beginning at `diagonal`; fewer where both end.
template <int kItems, class T, class Less>
__TRINE_DEVICE__ void merge_items(const T* a, int a_count, const T* b, int b_count, int diagonal, Less less,
                                  T (&items)[kItems]) {
  if (diagonal >= a_count + b_count) return;
  int i = merge_split(a, a_count, b, b_count, diagonal, less), j = diagonal - i;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (i >= a_count && j >= b_count) continue;
    const bool second = i >= a_count || (j < b_count && less(b[j], a[i]));
    items[k] = second ? b[j] : a[i];
    second ? ++j : ++i;
  }
}

// Neighbours change places until none needs to: kItems rounds, each item at a fixed place of the array.
template <int kItems, class T, class Less>
__TRINE_DEVICE__ void sort_own(T (&items)[kItems], int valid, Less less) {
#pragma unroll
  for (int round = 0; round < kItems; ++round)
#pragma unroll
    for (int i = round % 2; i + 1 < kItems; i += 2)
      if (i + 1 < valid && less(items[i + 1], items[i])) {
        const T first = items[i + 1];
        items[i + 1] = items[i];
        items[i] = first;
      }
}

}  // namespace details

// Sorts the first `count` of the block's items, in blocked arrangement; equal ones keep their order. The block has
// kThreads threads at most. O(k^2 + k log(threads)) steps of a thread, log2(threads) rounds of two barriers;
// kThreads kItems sizeof(T) bytes of shared memory.
template <int kThreads, int kItems, class T, class Less>
__TRINE_DEVICE__ void block_sort(T (&items)[kItems], Less less, int count) {
  __shared__ details::Room<T, kThreads * kItems> room;
  T* tile = room.values();
  const int first = thread_rank() * kItems;
  details::sort_own(items, count - first, less);
  for (int width = kItems; width < count; width *= 2) {
    block_store_blocked(tile, count, items);
    __syncthreads();
    const int start = first / (2 * width) * (2 * width);
    const int left = count - start;  // may be negative: then there is nothing to merge
    const int a_count = left < width ? (left < 0 ? 0 : left) : width;
    const int b_count = left - a_count < width ? (left < a_count ? 0 : left - a_count) : width;
    details::merge_items(tile + start, a_count, tile + start + a_count, b_count, first - start, less, items);
    __syncthreads();
  }
}
template <int kThreads, int kItems, class T, class Less>
__TRINE_DEVICE__ void block_sort(T (&items)[kItems], Less less) {
  block_sort<kThreads>(items, less, block_threads() * kItems);
}
template <int kThreads, int kItems, class T>
__TRINE_DEVICE__ void block_sort(T (&items)[kItems]) {
  block_sort<kThreads>(items, Less{});
}

}  // namespace trine
