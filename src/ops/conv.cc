// Conv and com.microsoft's FusedConv: y = activation(convolution(x, w) + bias + residual), sums in f64.
#include "ops/conv.h"

#include "ops/activation.h"
#include "ops/node_error.h"

namespace trine {

ConvGeometry ConvGeometry::of(const Node& node, const Shape& x, const Shape& w) {
  ConvGeometry g;
  g.x = Image::of(node, x);
  require(node, w.rank() == x.rank(),
          fmt::format("w has {} dimensions ([{}]), x has {} ([{}]); they must agree", w.rank(), w.text(), x.rank(),
                      x.text()));
  g.group = node.attrs.integer("group", 1);
  require(node, g.group >= 1, fmt::format("group is {}; want 1 or more", g.group));
  g.window = Window::of(node, static_cast<int>(g.x.spatial.size()), {w.dims().begin() + 2, w.dims().end()});
  const auto in = g.x.channels.constant(), per_group = w[1].constant(), out = w[0].constant();
  if (in && per_group)
    require(node, *in % g.group == 0 && *in / g.group == *per_group,
            fmt::format("x has {} channels; w [{}] with group {} wants {}*{}", *in, w.text(), g.group, *per_group,
                        g.group));
  if (out)
    require(node, *out % g.group == 0, fmt::format("{} output channels; want a multiple of group {}", *out, g.group));
  g.y = g.x;
  g.y.channels = w[0];
  g.y.spatial = window_output(node, g.window, g.x.spatial);
  return g;
}

Shape conv_output_shape(const Node& node, const Shape& x, const Shape& w) {
  if (!x.has_rank() || !w.has_rank()) return Shape();
  return ConvGeometry::of(node, x, w).y.shape();
}

void require_per_channel(const Node& node, const Shape& shape, const Dim& channels, std::string_view what) {
  if (!shape.has_rank()) return;
  const bool one_dim = shape.rank() == 1;
  const auto have = one_dim ? shape[0].constant() : std::nullopt, want = channels.constant();
  require(node, one_dim && (!have || !want || *have == *want),
          fmt::format("{} has shape [{}]; want [{}]", what, shape.text(), channels.text()));
}

namespace {

double multiply_add(double sum, double a, double b) { return sum + a * b; }
int64_t multiply_add(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
std::vector<T> convolve_any(const Node& node, const ConvGeometry& g, const std::vector<T>& x, const std::vector<T>& w) {
  const ImageStrides xs = ImageStrides::of(g.x), ys = ImageStrides::of(g.y);
  const int64_t batch = g.x.batch.value(), out_channels = g.y.channels.value();
  const int64_t group_in = g.x.channels.value() / g.group, group_out = out_channels / g.group;
  const WindowGrid grid = WindowGrid::of(node, g.window, g.x.spatial);
  const int64_t kernel = element_count(grid.kernel);
  std::vector<T> y(value_count(g.y.dims()));
  for_each_window(grid, [&](int64_t o, const std::vector<Tap>& taps) {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t m = 0; m < out_channels; ++m) {
        const T* xp = x.data() + n * xs.batch + m / group_out * group_in * xs.channel;
        const T* wp = w.data() + m * group_in * kernel;
        T sum = 0;
        for (int64_t c = 0; c < group_in; ++c, xp += xs.channel, wp += kernel)
          for (const Tap& tap : taps) sum = multiply_add(sum, xp[tap.input * xs.pixel], wp[tap.kernel]);
        y[static_cast<size_t>(n * ys.batch + m * ys.channel + o * ys.pixel)] = sum;
      }
  });
  return y;
}

// The residual has the output's shape, as far as both are known: kernels rely on it.
void require_residual(const Node& node, const Shape& residual, const Shape& y) {
  if (!residual.has_rank() || !y.has_rank()) return;
  bool fits = residual.rank() == y.rank();
  for (int i = 0; fits && i < y.rank(); ++i)
    fits = !residual[i].is_constant() || !y[i].is_constant() || residual[i] == y[i];
  require(node, fits, fmt::format("residual has shape [{}]; want [{}]", residual.text(), y.text()));
}

void conv_infer(InferContext& c) {
  const Shape y = conv_output_shape(c.node(), c.shape(0), c.shape(1));
  if (c.has(2) && c.shape(1).has_rank()) require_per_channel(c.node(), c.shape(2), c.shape(1)[0], "bias");
  if (c.has(3)) require_residual(c.node(), c.shape(3), y);
  c.set(0, c.attrs().dtype("out", c.dtype(0)), y);
}

void conv_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  const ConvGeometry g = ConvGeometry::of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()));
  std::vector<double> y = convolve(c.node(), g, x.f64_values(), w.f64_values());
  if (c.has(2)) {
    require_per_channel(c.node(), Shape::from(c.tensor(2).dims()), g.y.channels, "bias");
    const std::vector<double> bias = c.tensor(2).f64_values();
    for_each_channel(g.y, y, [&](double& v, size_t m) { v += bias[m]; });
  }
  apply_epilogue(c.node(), y, g.y.dims(), c.has(3) ? &c.tensor(3) : nullptr);
  c.set(0, Tensor::from_f64(c.attrs().dtype("out", x.dtype()), g.y.dims(), y));
}

const OpDef op_conv = {
    .name = "conv",
    .onnx = "Conv",
    .doc =
        "y = activation(convolution(x, w) + bias + residual); layout nchw or nhwc, w is always [M, C/group, k...]; "
        "out: the type of y when it is not that of x",
    .types = "Tf T Tw Tw",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = conv_infer,
    .reference = conv_reference,
};
const RegisterOp register_conv(op_conv);

const OpDef op_fused_conv = {
    .name = "fused_conv",
    .onnx = "com.microsoft:FusedConv",
    .doc = "conv with activation and activation_params, and a residual as fourth input",
    .types = "Tf T T T",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = conv_infer,
    .reference = conv_reference,
};
const RegisterOp register_fused_conv(op_fused_conv);

}  // namespace

std::vector<double> convolve(const Node& node, const ConvGeometry& g, const std::vector<double>& x,
                             const std::vector<double>& w) {
  return convolve_any(node, g, x, w);
}

std::vector<int64_t> convolve(const Node& node, const ConvGeometry& g, const std::vector<int64_t>& x,
                              const std::vector<int64_t>& w) {
  return convolve_any(node, g, x, w);
}

}  // namespace trine
