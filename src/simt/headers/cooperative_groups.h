// Cooperative groups: blocks, grids, tiles of warps and the threads that came along.
#pragma once

#include "cooperative_groups/details_words.h"

extern "C" __device__ void trine_simt_grid_sync();  // of the runtime; blocks of cooperative launches meet

namespace cooperative_groups {

namespace details {
__TRINE_GROUP__ unsigned lane() { return __nvvm_read_ptx_sreg_laneid(); }
__TRINE_GROUP__ unsigned lanes_below() { return (1u << lane()) - 1; }
__TRINE_GROUP__ unsigned volume(const dim3& d) { return d.x * d.y * d.z; }
__TRINE_GROUP__ unsigned thread_of_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__TRINE_GROUP__ unsigned long long block_of_grid() {
  return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
// The lane that is the n-th of a mask, from 0.
__TRINE_GROUP__ unsigned nth_lane(unsigned mask, unsigned n) {
  return mask == 0xffffffffu ? n : __fns(mask, 0, (int)n + 1);
}
// The bits of `from` at the positions of the mask, packed.
__TRINE_GROUP__ unsigned pack(unsigned mask, unsigned from) {
  if (mask == 0xffffffffu) return from;
  unsigned packed = 0;
  for (unsigned left = mask, bit = 0; left; left &= left - 1, ++bit)
    packed |= ((from >> __builtin_ctz(left)) & 1u) << bit;
  return packed;
}
enum class Kind : unsigned { block, lanes, one };
}  // namespace details

class coalesced_group;

// Any group, its kind known when the program runs.
class thread_group {
 public:
  __device__ unsigned long long size() const {
    if (kind_ == details::Kind::block) return details::volume(blockDim);
    return kind_ == details::Kind::one ? 1 : __popc(mask_);
  }
  __device__ unsigned long long num_threads() const { return size(); }
  __device__ unsigned long long thread_rank() const {
    if (kind_ == details::Kind::block) return details::thread_of_block();
    return kind_ == details::Kind::one ? 0 : __popc(mask_ & details::lanes_below());
  }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const {
    if (kind_ == details::Kind::block) __syncthreads();
    else if (kind_ == details::Kind::lanes) __syncwarp(mask_);
  }

 protected:
  __device__ thread_group(details::Kind kind, unsigned mask) : kind_(kind), mask_(mask) {}
  friend __device__ thread_group tiled_partition(const thread_group& parent, unsigned tile);
  template <class Group>
  friend __device__ coalesced_group labeled_partition(const Group& group, int label);
  friend __device__ thread_group this_thread();

  details::Kind kind_;
  unsigned mask_;  // of lanes
};

__TRINE_GROUP__ thread_group this_thread() { return thread_group(details::Kind::one, 0); }

class thread_block : public thread_group {
 public:
  __device__ static void sync() { __syncthreads(); }
  __device__ static unsigned thread_rank() { return details::thread_of_block(); }
  __device__ static unsigned size() { return details::volume(blockDim); }
  __device__ static unsigned num_threads() { return size(); }
  __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ static dim3 group_dim() { return blockDim; }
  __device__ static dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  __device__ static arrival_token barrier_arrive() { return {}; }
  __device__ static void barrier_wait(arrival_token&&) { __syncthreads(); }

 private:
  friend __device__ thread_block this_thread_block();
  __device__ thread_block() : thread_group(details::Kind::block, 0) {}
};

__TRINE_GROUP__ thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  __device__ static bool is_valid() { return true; }
  __device__ static void sync() { trine_simt_grid_sync(); }
  __device__ static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  __device__ static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  __device__ static unsigned long long size() { return num_threads(); }
  __device__ static unsigned long long block_rank() { return details::block_of_grid(); }
  __device__ static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + details::thread_of_block();
  }
  __device__ static dim3 block_index() { return thread_block::group_index(); }
  __device__ static dim3 group_dim() { return gridDim; }
  __device__ static dim3 dim_blocks() { return gridDim; }

 private:
  friend __device__ grid_group this_grid();
  __device__ grid_group() {}
};

__TRINE_GROUP__ grid_group this_grid() { return grid_group(); }

// Lanes that were together when the group was made, ranked in their order.
class coalesced_group : public thread_group {
 public:
  __device__ unsigned size() const { return __popc(mask_); }
  __device__ unsigned num_threads() const { return size(); }
  __device__ unsigned thread_rank() const { return __popc(mask_ & details::lanes_below()); }
  __device__ void sync() const { __syncwarp(mask_); }
  __device__ unsigned long long meta_group_rank() const { return meta_rank_; }
  __device__ unsigned long long meta_group_size() const { return meta_size_; }

  template <class T>
  __device__ T shfl(T value, unsigned rank) const {
    return details::shuffle(mask_, value, details::nth_lane(mask_, rank));
  }
  // Beyond the ends a thread gets its own value.
  template <class T>
  __device__ T shfl_up(T value, unsigned distance) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank < distance ? rank : rank - distance);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned distance) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank + distance < size() ? rank + distance : rank);
  }
  __device__ int any(int predicate) const { return __any_sync(mask_, predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask_, predicate); }
  __device__ unsigned ballot(int predicate) const { return details::pack(mask_, __ballot_sync(mask_, predicate)); }
  template <class T>
  __device__ unsigned match_any(T value) const {
    return details::pack(mask_, __match_any_sync(mask_, value));
  }
  template <class T>
  __device__ unsigned match_all(T value, int& all) const {
    return details::pack(mask_, __match_all_sync(mask_, value, &all));
  }

 private:
  template <class Group>
  friend __device__ coalesced_group labeled_partition(const Group& group, int label);
  friend __device__ coalesced_group coalesced_threads();
  friend __device__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile);
  __device__ coalesced_group(unsigned mask, unsigned rank = 0, unsigned size = 1)
      : thread_group(details::Kind::lanes, mask), meta_rank_(rank), meta_size_(size) {}

  unsigned meta_rank_, meta_size_;
};

__TRINE_GROUP__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace details {
// Tiles of `kSize` lanes, a power of two up to a warp.
template <unsigned kSize>
class Tile : public thread_group {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "tiles have a power of two of threads, up to 32");

 public:
  __device__ static unsigned size() { return kSize; }
  __device__ static unsigned num_threads() { return kSize; }
  __device__ static unsigned thread_rank() { return lane() & (kSize - 1); }
  __device__ static void sync() { __syncwarp(mask()); }
  template <class T>
  __device__ T shfl(T value, int rank) const {
    return shuffle(mask(), value, rank, kSize);
  }
  template <class T>
  __device__ T shfl_up(T value, unsigned distance) const {
    return shuffle_up(mask(), value, distance, kSize);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned distance) const {
    return shuffle_down(mask(), value, distance, kSize);
  }
  template <class T>
  __device__ T shfl_xor(T value, unsigned lanes) const {
    return shuffle_xor(mask(), value, lanes, kSize);
  }
  __device__ int any(int predicate) const { return __any_sync(mask(), predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask(), predicate); }
  __device__ unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }
  template <class T>
  __device__ unsigned match_any(T value) const {
    return __match_any_sync(mask(), value) >> first();
  }
  template <class T>
  __device__ unsigned match_all(T value, int& all) const {
    return __match_all_sync(mask(), value, &all) >> first();
  }

 protected:
  __device__ Tile() : thread_group(Kind::lanes, mask()) {}
  __device__ static unsigned first() { return lane() & ~(kSize - 1); }
  __device__ static unsigned mask() { return kSize == 32 ? 0xffffffffu : ((1u << (kSize % 32)) - 1) << first(); }
};
}  // namespace details

template <unsigned kSize, class Parent = void>
class thread_block_tile : public details::Tile<kSize> {
 public:
  // Of a tile within its parent: the block, or a larger tile.
  __device__ static unsigned meta_group_rank() { return Parent::thread_rank() / kSize; }
  __device__ static unsigned meta_group_size() { return (Parent::size() + kSize - 1) / kSize; }

 private:
  template <unsigned n, class Group>
  friend __device__ thread_block_tile<n, Group> tiled_partition(const Group& parent);
  __device__ thread_block_tile() {}
};
template <unsigned kSize>
class thread_block_tile<kSize, void> : public details::Tile<kSize> {
 public:
  template <class Parent>
  __device__ thread_block_tile(const thread_block_tile<kSize, Parent>&)
      : rank_(thread_block_tile<kSize, Parent>::meta_group_rank()),
        groups_(thread_block_tile<kSize, Parent>::meta_group_size()) {}
  __device__ unsigned meta_group_rank() const { return rank_; }
  __device__ unsigned meta_group_size() const { return groups_; }

 private:
  unsigned rank_, groups_;
};

template <unsigned kSize, class Parent>
__TRINE_GROUP__ thread_block_tile<kSize, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<kSize, Parent>();
}
__TRINE_GROUP__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile) {
  const unsigned rank = parent.thread_rank(), begin = rank / tile * tile;
  unsigned mask = 0;
  for (unsigned i = begin; i < begin + tile && i < parent.size(); ++i) mask |= 1u << details::nth_lane(parent.mask_, i);
  return coalesced_group(mask, rank / tile, (parent.size() + tile - 1) / tile);
}
__TRINE_GROUP__ thread_group tiled_partition(const thread_group& parent, unsigned tile) {
  const unsigned first = details::lane() & ~(tile - 1);
  const unsigned mask = tile >= 32 ? 0xffffffffu : ((1u << tile) - 1) << first;
  return thread_group(details::Kind::lanes, parent.kind_ == details::Kind::lanes ? mask & parent.mask_ : mask);
}

// The threads of a group of lanes that gave the same label.
template <class Group>
__TRINE_GROUP__ coalesced_group labeled_partition(const Group& group, int label) {
  const unsigned mine = __match_any_sync(group.mask_, label);
  return coalesced_group(mine);
}
template <class Group>
__TRINE_GROUP__ coalesced_group binary_partition(const Group& group, bool predicate) {
  return labeled_partition(group, (int)predicate);
}

template <class Group>
__TRINE_GROUP__ void sync(const Group& group) {
  group.sync();
}
template <class Group>
__TRINE_GROUP__ auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
__TRINE_GROUP__ auto group_size(const Group& group) {
  return group.size();
}

// Runs `function` in one thread of the group; `invoke_one_broadcast` gives all of them its result.
template <class Group, class Function, class... Arguments>
__TRINE_GROUP__ void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
__TRINE_GROUP__ auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
