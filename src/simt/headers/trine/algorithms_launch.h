// What the algorithms of trine/ that are called by the host share: how work is cut, and memory for the time of a call.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "block_sort.h"

namespace trine {
namespace details {

// Work on `n` elements is cut into segments, each for one warp, which needs no barriers with others.
constexpr int kBlock = 256;
struct Segments {
  size_t length;  // of all but the last: a multiple of 32
  unsigned count;
  unsigned blocks() const { return (count * 32 + kBlock - 1) / kBlock; }
};
inline Segments segments_of(size_t n, size_t least, size_t most_segments) {
  size_t length = (n + most_segments - 1) / most_segments;
  if (length < least) length = least;
  length = (length + 31) / 32 * 32;
  return Segments{length, static_cast<unsigned>((n + length - 1) / length)};
}

// Of the calling thread's warp.
struct Segment {
  unsigned number;
  size_t start;
  size_t count;  // 0: nothing to do
};
__TRINE_DEVICE__ Segment own_segment(size_t n, size_t length) {
  const unsigned number = (blockIdx.x * kBlock + threadIdx.x) / 32;
  const size_t start = number * length;
  return Segment{number, start, start >= n ? 0 : n - start < length ? n - start : length};
}

// From the stream's pool, given back in the stream's order.
class Memory {
 public:
  Memory(size_t bytes, cudaStream_t stream) : stream_(stream) { error_ = cudaMallocAsync(&data_, bytes, stream); }
  ~Memory() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  cudaError_t error() const { return error_; }
  template <class T>
  T* as(size_t byte = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + byte);
  }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
  cudaError_t error_;
};
inline size_t room_for(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Blocks of a grid whose threads go on by the grid's size.
inline unsigned grid_of(size_t n) {
  const size_t blocks = (n + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

}  // namespace details
}  // namespace trine
