// Where the kernel of a convolution or pooling sits over the spatial dimensions of its input.
//
//   input position of tap k of output o:  o * stride - pad_begin + k * dilation
//   explicit pads:  out = floor((in + pads - ((k-1) * dilation + 1)) / stride) + 1, or ceil, of which windows that
//                   would start in the end padding are dropped
//   SAME_*:         out = ceil(in / stride);  the odd padding element goes to the end (UPPER) or the start (LOWER)
#pragma once

#include <functional>

#include "graph/graph.h"

namespace trine {

// Activations [N, C, spatial...] or, with the attribute layout = "nhwc", [N, spatial..., C].
struct Image {
  bool nhwc = false;
  Dim batch, channels;
  std::vector<Dim> spatial;

  static Image of(const Node& node, const Shape& shape, int min_rank = 3);  // of a known rank
  Shape shape() const;
  Dims dims() const { return shape().static_dims(); }
};

// Element strides of a concrete image whose spatial dimensions are flattened into "pixels".
struct ImageStrides {
  int64_t batch, channel, pixel, pixels;
  static ImageStrides of(const Image& image);
};

struct Window {
  enum class AutoPad : uint8_t { notset, same_upper, same_lower, valid };
  std::vector<Dim> kernel;
  std::vector<int64_t> strides, dilations, pads;  // pads: all begins, then all ends
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;

  // Reads and checks the node's attributes for `rank` spatial dimensions. An empty `kernel` takes kernel_shape.
  static Window of(const Node& node, int rank, std::vector<Dim> kernel = {});
  int rank() const { return static_cast<int>(strides.size()); }
};

std::vector<Dim> window_output(const Node& node, const Window& window, const std::vector<Dim>& in);

// Refuses attributes that make a small image enormous (pads or strides of 2^31): no network does, damaged files do.
void check_growth(const Node& node, const std::vector<Dim>& in, const std::vector<Dim>& out);

// A window over an input of known size.
struct WindowGrid {
  Dims in, out, kernel, strides, dilations, pads_begin, pads_end;
  static WindowGrid of(const Node& node, const Window& window, const std::vector<Dim>& in);
};

struct Tap {
  int64_t kernel;  // flat position in the kernel
  int64_t input;   // flat position in the input's spatial dimensions
};

// Calls `see(flat output position, taps inside the input)` for every output position, in row-major order.
void for_each_window(const WindowGrid& grid, const std::function<void(int64_t, const std::vector<Tap>&)>& see);

// Taps of output `out` inside the input and its padding; what a ceil_mode window has beyond that never counts.
int64_t padded_taps(const WindowGrid& grid, int64_t out);

}  // namespace trine
