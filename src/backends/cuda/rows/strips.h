// How images are shared out among blocks of strips (kernels/strips.cuh), for convolutions and pools alike.
#pragma once

#include "backends/cuda/kernels/strip_sizes.cuh"
#include "backends/cuda/rows/contraction.h"

namespace trine::cuda {

// What is made: `P` is a ConvProblem or a PoolProblem.
struct StripImage {
  int64_t n, channels;
  dnn::Extents in, out, kernel, stride, pad;
  int64_t pixel, y_pixel;  // steps in elements
  DType type;

  template <class P>
  StripImage(const P& p, int64_t channels_, DType type_)
      : n(p.n),
        channels(channels_),
        in(p.in),
        out(p.out),
        kernel(p.kernel),
        stride(p.stride),
        pad(p.pad_begin),
        pixel(or_dense(p.in_pixel_stride, channels_)),
        y_pixel(or_dense(p.out_pixel_stride, channels_)),
        type(type_) {}
};

// Null when kernels of strips can take the image, else why not.
const char* refusal_of(const StripImage& image);

struct StripTiling {
  int64_t columns = 4;  // outputs of a strip
  int64_t threads = 256;
  int64_t groups = 1, slices = 1;  // groups of 8 channels of a slice
  int64_t strips = 1, rows = 1;    // of a tile
  int64_t tiles_x = 1, tiles_y = 1, blocks = 0;

  StripTiling(const StripImage& image, const dnn::DeviceTraits& traits);

  // Seconds of the issue of `each` instructions for eight channels of an output; a multiprocessor begins those of four
  // warps in each cycle.
  double seconds(double each, const dnn::DeviceTraits& traits) const;
};

StripSizes sizes_of(const StripImage& image, const StripTiling& tiling);

}  // namespace trine::cuda
