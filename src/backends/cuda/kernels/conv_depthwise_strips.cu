// Depthwise convolutions of windows of kSize x kSize: a thread makes eight channels of kColumns neighbouring outputs of
// a line, and reads each pixel of a row under them once. Blocks are tiles of outputs, so that rows of the window are
// found in the L1 cache; their weights, f32 [kernel position][channels], stand in shared memory.
#include "finish_eight.cuh"
#include "mma.cuh"
#include "strips.cuh"

using namespace trine;
using namespace trine::contraction;

template <int kType, int kSize, int kStride, int kColumns, bool kOverlap>
__global__ void __launch_bounds__(kMostStripThreads, 2)
    conv_depthwise_strips(const __grid_constant__ StripSizes p, const __grid_constant__ Finish f, const void* a,
                          const float* weights, const void* bias, const void* residual, const float* scale, void* y) {
  constexpr int kPixels = (kColumns - 1) * kStride + kSize, kBytes = kType == kF32 ? 4 : 2;
  __shared__ __align__(16) float taps[kSize * kSize * kMostStripGroups * 8];
  const StripPlace at = StripPlace::of<kColumns, kStride>(p);
  {
    const int quads = p.slice_channels / 4, first = at.channel - at.own_channel;
    const Divider half = p.groups;  // a group is two quads
#pragma unroll 1
    for (int i = threadIdx.x; i < kSize * kSize * quads; i += blockDim.x) {
      const int tap = int(divided(unsigned(i) / 2, half)), quad = i - tap * quads;
      const bool there = first + quad * 4 < p.channels;
      copy_async(shared_address(taps + i * 4), there ? weights + tap * p.channels + first + quad * 4 : weights,
                 there ? 16 : 0);
    }
  }
  commit_copies();
  wait_for_results<kOverlap>();
  wait_copies<0>();
  __syncthreads();
  if (!at.works) return;

  const FinishOperands operands{bias, residual, scale, y};
  const auto misaligned = [](const void* q) { return (reinterpret_cast<unsigned long long>(q) & 15) != 0; };
  const bool aligned = p.y_aligned && !misaligned(y) && !misaligned(residual);
  const int x0 = at.x * kStride - p.pad_x, y0 = at.y * p.stride_y - p.pad_y;
  const long long image = at.image * p.image;
  long long to = at.to;

  const bool whole = p.aligned && !misaligned(a);
  float sums[kColumns * 8] = {};
  if (whole) {
    const int step = p.pixel * kBytes;
    const char* from = static_cast<const char*>(a) + image * kBytes + (long long)at.from * kBytes;
    const float* weight = taps + at.own_channel;
    int row = y0;
    const auto load_row = [&](Pixel<kType>(&pixels)[kPixels]) __attribute__((always_inline)) {
      const unsigned limit = unsigned(row) < unsigned(p.in_h) ? p.in_w : 0;
#pragma unroll
      for (int i = 0; i < kPixels; ++i) pixels[i].load(from + i * step, unsigned(x0 + i) < limit);
      from += (long long)p.row * kBytes;
      ++row;
    };
    const auto multiply_row = [&](const Pixel<kType>(&pixels)[kPixels]) __attribute__((always_inline)) {
#pragma unroll
      for (int kx = 0; kx < kSize; ++kx, weight += p.slice_channels) {
        const float4 low = reinterpret_cast<const float4*>(weight)[0],
                     high = reinterpret_cast<const float4*>(weight)[1];
        const float w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int i = 0; i < kColumns; ++i)
#pragma unroll
          for (int c = 0; c < 8; ++c) sums[i * 8 + c] = fmaf(pixels[i * kStride + kx].at(c), w[c], sums[i * 8 + c]);
      }
    };
    Pixel<kType> even[kPixels];
    if constexpr (kPixels * Pixel<kType>::kWords + kColumns <=
                  10) {  // the next row is on its way while one is multiplied
      Pixel<kType> odd[kPixels];
      load_row(even);
#pragma unroll 1
      for (int ky = 0;; ky += 2) {
        if (ky + 1 < kSize) load_row(odd);
        multiply_row(even);
        if (ky + 1 == kSize) break;
        load_row(even);
        multiply_row(odd);
      }
    } else {
#pragma unroll 1
      for (int ky = 0; ky < kSize; ++ky) {
        load_row(even);
        multiply_row(even);
      }
    }
    if (finishes_at_once(f, operands, aligned)) {
      finish_known<kColumns>(f, operands, sums, min(kColumns, p.out_w - at.x), to, p.y_pixel, at.channel);
      return;
    }
  }
#pragma unroll 1
  for (int i = 0; i < kColumns && at.x + i < p.out_w; ++i, to += p.y_pixel) {
    float eight[8] = {};
    if (whole) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (j == i)
#pragma unroll
          for (int c = 0; c < 8; ++c) eight[c] = sums[j * 8 + c];
    }
#pragma unroll 1
    for (int tap = 0; tap < kSize * kSize && !whole; ++tap) {
      const int row = y0 + tap / kSize, column = x0 + i * kStride + tap % kSize;
      if (unsigned(row) >= unsigned(p.in_h) || unsigned(column) >= unsigned(p.in_w)) continue;
      const Eight v = eight_slowly(kType, a, image + row * p.row + column * p.pixel + at.channel);
      const float* weight = taps + tap * p.slice_channels + at.own_channel;
#pragma unroll
      for (int c = 0; c < 8; ++c) eight[c] = fmaf(v.v[c], weight[c], eight[c]);
    }
    finish_each(f, operands, eight, 8, to, at.channel);
  }
}
