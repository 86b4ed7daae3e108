// reduce(group, value, operation): what all threads of tiles and of coalesced groups gave, in each of them.
#pragma once

#include <cooperative_groups.h>

#include "details_operators.h"

namespace cooperative_groups {

template <unsigned kSize, class Parent, class T, class Operation>
__TRINE_GROUP__ T reduce(const thread_block_tile<kSize, Parent>& group, T value, Operation&& operation) {
#pragma unroll
  for (unsigned distance = kSize / 2; distance; distance /= 2)
    value = operation(value, group.shfl_xor(value, distance));
  return value;
}

// A tree over ranks, of which there need not be a power of two.
template <class T, class Operation>
__TRINE_GROUP__ T reduce(const coalesced_group& group, T value, Operation&& operation) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_down(value, distance);
    if (rank % (2 * distance) == 0 && rank + distance < size) value = operation(value, other);
  }
  return group.shfl(value, 0);
}

template <class Group, class T, class Operation>
__TRINE_GROUP__ void reduce_update_async(const Group& group, T* to, T value, Operation&& operation) {
  value = reduce(group, value, operation);
  if (group.thread_rank() == 0) *to = operation(*to, value);
}

}  // namespace cooperative_groups
