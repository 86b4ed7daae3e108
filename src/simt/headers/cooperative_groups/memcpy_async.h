// memcpy_async(group, to, from, bytes) and wait(group). Threads of the group copy at once; wait is a barrier.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

template <class Group>
__TRINE_GROUP__ void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t step = group.size(), rank = group.thread_rank();
  const bool words = (((size_t)to | (size_t)from | bytes) & 3) == 0;
  if (words)
    for (size_t i = rank; i < bytes / 4; i += step) ((unsigned*)to)[i] = ((const unsigned*)from)[i];
  else
    for (size_t i = rank; i < bytes; i += step) ((char*)to)[i] = ((const char*)from)[i];
}
template <class Group, class T>
__TRINE_GROUP__ void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  memcpy_async(group, (void*)to, (const void*)from, bytes);
}
template <class Group, class T>
__TRINE_GROUP__ void memcpy_async(const Group& group, T* to, size_t to_count, const T* from, size_t from_count) {
  memcpy_async(group, (void*)to, (const void*)from, sizeof(T) * (to_count < from_count ? to_count : from_count));
}
template <class Group>
__TRINE_GROUP__ void wait(const Group& group) {
  group.sync();
}
template <unsigned kStages, class Group>
__TRINE_GROUP__ void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
