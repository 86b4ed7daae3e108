// Images by strips: a thread makes eight channels of neighbouring outputs of a line. Blocks are tiles of outputs, so
// that rows that windows share are found in the L1 cache.
#pragma once

#include "contraction.cuh"
#include "strip_sizes.cuh"

namespace trine {

constexpr int kMostStripThreads = 256, kMostStripGroups = 8;  // of a block: threads, groups of channels

using contraction::kBf16, contraction::kF16, contraction::kF32;

// Eight channels of a pixel as they lie in memory, or what stands for padding.
template <int kType>
struct Pixel {
  static constexpr int kWords = kType == kF32 ? 2 : 1;
  uint4 words[kWords];

  __device__ __forceinline__ void load(const char* from, bool inside, unsigned padding = 0) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      words[i] = make_uint4(padding, padding, padding, padding);
      if (inside) words[i] = reinterpret_cast<const uint4*>(from)[i];
    }
  }
  __device__ __forceinline__ float at(int channel) const {
    constexpr int kEach = kType == kF32 ? 1 : 2;
    const uint4& four = words[channel / kEach / 4];
    const unsigned parts[4] = {four.x, four.y, four.z, four.w};
    const unsigned word = parts[channel / kEach % 4];
    if constexpr (kType == kF32) return __uint_as_float(word);
    else if constexpr (kType == kBf16) return __uint_as_float(channel % 2 ? word & 0xffff0000u : word << 16);
    else return __half2float(__ushort_as_half(static_cast<unsigned short>(word >> (channel % 2 * 16))));
  }
};

struct StripPlace {
  unsigned image;
  int x, y, channel, own_channel;  // own: of the slice
  bool works;
  int from;      // where the window's first pixel is in the image, padding counted
  long long to;  // where the first output is

  template <int kColumns, int kStride>
  __device__ __forceinline__ static StripPlace of(const StripSizes& p) {
    const auto taken = [](unsigned& n, Divider d) {
      const unsigned q = divided(n, d), r = n - q * d.divisor;
      n = q;
      return int(r);
    };
    StripPlace at;
    unsigned block = blockIdx.x, thread = threadIdx.x;
    at.own_channel = taken(thread, p.groups) * 8;
    const int strip = taken(thread, p.strips), row = int(thread);
    at.channel = taken(block, p.slices) * p.slice_channels + at.own_channel;
    at.x = (taken(block, p.tiles_x) * p.tile_strips + strip) * kColumns;
    at.y = taken(block, p.tiles_y) * p.tile_rows + row;
    at.image = block;
    at.from = (at.y * p.stride_y - p.pad_y) * p.row + (at.x * kStride - p.pad_x) * p.pixel + at.channel;
    at.to = at.image * p.y_image + (at.y * p.y_row + at.x * p.y_pixel + at.channel);
    at.works = row < p.tile_rows && at.channel < p.channels && at.x < p.out_w && at.y < p.out_h;
    return at;
  }
};

}  // namespace trine
