// ConvTranspose: the gradient of convolution with respect to its input, plus bias.
//   y[n,m,i*stride - pad_begin + k*dilation] += x[n,c,i] * w[c,m,k]
//   out = (in-1)*stride + output_padding + (k-1)*dilation + 1 - pads, or output_shape, which then decides the pads.
// SAME_* gives in*stride, as the standard says, also where the kernel is smaller than the stride: the rows past the
// last kernel hold the bias (onnxruntime leaves them out there).
#include <algorithm>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/activation.h"
#include "ops/conv.h"
#include "ops/node_error.h"

namespace trine {
namespace {

struct Transposed {
  Image x, y;
  Window window;               // of the forward convolution: strides, dilations, pads
  std::vector<int64_t> given;  // output_shape, spatial part; empty: computed
  std::vector<int64_t> extra;  // output_padding
  int64_t group = 1;
};

std::vector<int64_t> output_padding(const Node& node, size_t n) {
  std::vector<int64_t> extra = node.attrs.integers("output_padding", std::vector<int64_t>(n, 0));
  extra.resize(std::max(extra.size(), n));  // some exporters write it for all dimensions, twice over
  for (int64_t v : extra)
    require(node, v >= 0 && v <= INT32_MAX, fmt::format("output_padding holds {}; want 0 or more", v));
  return extra;
}

// The spatial output for pads of 0.
Dim full_extent(const Transposed& t, size_t i) {
  return (t.x.spatial[i] - 1) * t.window.strides[i] + t.extra[i] + (t.window.kernel[i] - 1) * t.window.dilations[i] + 1;
}

Dim output_extent(const Node& node, const Transposed& t, size_t i) {
  const size_t n = t.x.spatial.size();
  if (!t.given.empty()) return t.given[i];
  const auto pad = t.window.auto_pad;
  if (pad == Window::AutoPad::same_upper || pad == Window::AutoPad::same_lower)
    return t.x.spatial[i] * t.window.strides[i];
  const Dim out = full_extent(t, i) - t.window.pads[i] - t.window.pads[n + i];
  if (const auto v = out.constant(); v && *v < 0) fail(node, fmt::format("output dimension {} would be {}", i, *v));
  return out;
}

Transposed transposed_of(const Node& node, const Shape& x, const Shape& w) {
  Transposed t;
  t.x = Image::of(node, x);
  const size_t n = t.x.spatial.size();
  require(node, w.rank() == x.rank(),
          fmt::format("w has shape [{}], x has [{}]; ranks must agree", w.text(), x.text()));
  t.group = node.attrs.integer("group", 1);
  require(node, t.group >= 1 && t.group <= INT32_MAX, fmt::format("group is {}; want 1 or more", t.group));
  const auto in = t.x.channels.constant(), rows = w[0].constant();
  if (in && rows)
    require(node, *in == *rows && *in % t.group == 0,
            fmt::format("x has {} channels, w [{}], group {}; want w[0] equal and a multiple of group", *in, w.text(),
                        t.group));
  t.window = Window::of(node, static_cast<int>(n), {w.dims().begin() + 2, w.dims().end()});
  t.extra = output_padding(node, n);
  t.given = node.attrs.integers("output_shape");
  if (t.given.size() == n + 2) t.given.erase(t.given.begin(), t.given.begin() + 2);  // with batch and channels in front
  require(node, t.given.empty() || t.given.size() == n,
          fmt::format("output_shape has {} values; want {}", t.given.size(), n));
  for (size_t i = 0; i < n; ++i)
    require(node, t.extra[i] < std::max(t.window.strides[i], t.window.dilations[i]),
            fmt::format("output_padding holds {}; it must be below the stride {} or the dilation {}", t.extra[i],
                        t.window.strides[i], t.window.dilations[i]));
  for (int64_t v : t.given) require(node, v >= 0, fmt::format("output_shape holds {}", v));
  t.y = t.x;
  t.y.channels = w[1] * t.group;
  for (size_t i = 0; i < n; ++i) t.y.spatial[i] = output_extent(node, t, i);
  check_growth(node, t.x.spatial, t.y.spatial);
  return t;
}

// The forward convolution from y back to x: its window says which x pixels reach each y pixel.
WindowGrid forward_grid(const Transposed& t) {
  WindowGrid g;
  const size_t n = t.x.spatial.size();
  for (size_t i = 0; i < n; ++i) {
    g.in.push_back(t.y.spatial[i].value());
    g.out.push_back(t.x.spatial[i].value());
    g.kernel.push_back(t.window.kernel[i].value());
    int64_t begin = t.window.pads[i];
    const bool upper = t.window.auto_pad == Window::AutoPad::same_upper;
    if (!t.given.empty() || upper || t.window.auto_pad == Window::AutoPad::same_lower) {
      // wider than the full extent: the surplus lies at the end and holds the bias alone
      const int64_t total = std::max<int64_t>(full_extent(t, i).value() - g.in[i], 0);
      begin = upper ? total / 2 : total - total / 2;
    }
    g.pads_begin.push_back(begin);
  }
  g.strides = t.window.strides;
  g.dilations = t.window.dilations;
  return g;
}

void conv_transpose_infer(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.set(0, c.dtype(0), Shape());
  const Transposed t = transposed_of(c.node(), c.shape(0), c.shape(1));
  if (c.has(2)) require_per_channel(c.node(), c.shape(2), t.y.channels, "bias");
  c.set(0, c.dtype(0), t.y.shape());
}

std::vector<double> scatter(const Transposed& t, const std::vector<double>& x, const std::vector<double>& w) {
  const ImageStrides xs = ImageStrides::of(t.x), ys = ImageStrides::of(t.y);
  const WindowGrid grid = forward_grid(t);
  const int64_t batch = t.x.batch.value(), in = t.x.channels.value(), kernel = element_count(grid.kernel);
  const int64_t group_in = in / t.group, group_out = t.y.channels.value() / t.group;
  std::vector<double> y(value_count(t.y.dims()), 0.0);
  for_each_window(grid, [&](int64_t i, const std::vector<Tap>& taps) {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t c = 0; c < in; ++c) {
        const double v = x[static_cast<size_t>(n * xs.batch + c * xs.channel + i * xs.pixel)];
        double* yp = y.data() + n * ys.batch + c / group_in * group_out * ys.channel;
        const double* wp = w.data() + c * group_out * kernel;
        for (int64_t m = 0; m < group_out; ++m, yp += ys.channel, wp += kernel)
          for (const Tap& tap : taps) yp[tap.input * ys.pixel] += v * wp[tap.kernel];
      }
  });
  return y;
}

void conv_transpose_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  const Transposed t = transposed_of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()));
  std::vector<double> y = scatter(t, x.f64_values(), w.f64_values());
  if (c.has(2)) {
    require_per_channel(c.node(), Shape::from(c.tensor(2).dims()), t.y.channels, "bias");
    const std::vector<double> bias = c.tensor(2).f64_values();
    for_each_channel(t.y, y, [&](double& v, size_t m) { v += bias[m]; });
  }
  apply_epilogue(c.node(), y, t.y.dims(), nullptr);
  c.set(0, Tensor::from_f64(x.dtype(), t.y.dims(), y));
}

const OpDef op_conv_transpose = {
    .name = "conv_transpose",
    .onnx = "ConvTranspose",
    .doc =
        "y[n,m,i*stride - pad + k*dilation] += x[n,c,i] * w[c,m,k]; layout nchw or nhwc, w always [C, M/group, k...]",
    .types = "Tf T Tw",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = conv_transpose_infer,
    .reference = conv_transpose_reference,
};
const RegisterOp register_conv_transpose(op_conv_transpose);

}  // namespace
}  // namespace trine
