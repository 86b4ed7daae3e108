// The convolution sum, shared by the float and the integer operators:
//   y[n,m,o] = sum over taps t inside the input, c in m's group:  x[n,c,o*stride - pad + t*dilation] * w[m,c,t]
#pragma once

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/window.h"

namespace trine {

struct ConvGeometry {
  Image x, y;
  Window window;
  int64_t group = 1;

  // Checks x and w (both of known rank) against each other and the node's attributes.
  static ConvGeometry of(const Node& node, const Shape& x, const Shape& w);
};

// Output shape for infer; an unknown rank gives an unknown shape.
Shape conv_output_shape(const Node& node, const Shape& x, const Shape& w);

// Bias (or per-channel scale, zero point) of `channels` elements: error unless 1-D of that size.
void require_per_channel(const Node& node, const Shape& shape, const Dim& channels, std::string_view what);

// `values` of the tensor's layout. Integer sums wrap.
std::vector<double> convolve(const Node& node, const ConvGeometry& g, const std::vector<double>& x,
                             const std::vector<double>& w);
std::vector<int64_t> convolve(const Node& node, const ConvGeometry& g, const std::vector<int64_t>& x,
                              const std::vector<int64_t>& w);

// Calls f(value, channel) for every element of a concrete image.
template <class T, class F>
void for_each_channel(const Image& image, std::vector<T>& values, F f) {
  const ImageStrides s = ImageStrides::of(image);
  const int64_t channels = image.channels.value();
  for (size_t i = 0; i < values.size(); ++i)
    f(values[i], static_cast<size_t>(static_cast<int64_t>(i) / s.channel % channels));
}

}  // namespace trine
