// ConvInteger and QLinearConv: exact integer sums of (x - x_zero) * (w - w_zero[m]). Padding counts as x_zero, so it
// adds nothing.
#include <cmath>

#include "ops/conv.h"
#include "ops/node_error.h"
#include "ops/quantized.h"

namespace trine {
namespace {

// Zero point or scale of the weight: one value for all output channels, or one each.
template <class T>
std::vector<T> per_channel(const Node& node, std::vector<T> values, int64_t channels, std::string_view what) {
  if (values.size() == 1) values.assign(static_cast<size_t>(channels), values[0]);
  require(node, static_cast<int64_t>(values.size()) == channels,
          fmt::format("{} has {} elements; want 1 or one per output channel ({})", what, values.size(), channels));
  return values;
}

std::vector<int64_t> integer_convolution(EvalContext& c, const ConvGeometry& g, const Tensor& x, const Tensor& w,
                                         int x_zero, int w_zero) {
  std::vector<int64_t> xv = x.i64_values(), wv = w.i64_values();
  if (const int64_t zero = scalar_zero_point(c, x_zero))
    for (int64_t& v : xv) v -= zero;
  if (c.has(w_zero) && !wv.empty()) {
    const int64_t channels = g.y.channels.value(), row = static_cast<int64_t>(wv.size()) / channels;
    const auto zero = per_channel(c.node(), c.tensor(w_zero).i64_values(), channels, "w_zero_point");
    for (size_t i = 0; i < wv.size(); ++i) wv[i] -= zero[i / static_cast<size_t>(row)];
  }
  return convolve(c.node(), g, xv, wv);
}

void conv_integer_infer(InferContext& c) { c.set(0, DType::i32, conv_output_shape(c.node(), c.shape(0), c.shape(1))); }

void conv_integer_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(1);
  const ConvGeometry g = ConvGeometry::of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()));
  c.set(0, Tensor::from_i64(DType::i32, g.y.dims(), integer_convolution(c, g, x, w, 2, 3)));
}

const OpDef op_conv_integer = {
    .name = "conv_integer",
    .onnx = "ConvInteger",
    .doc = "y = convolution(x - x_zero_point, w - w_zero_point) in i32, exact",
    .types = "Ti Ui T U",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = conv_integer_infer,
    .reference = conv_integer_reference,
};
const RegisterOp register_conv_integer(op_conv_integer);

// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, [bias i32]
void qlinear_conv_infer(InferContext& c) { c.set(0, c.dtype(7), conv_output_shape(c.node(), c.shape(0), c.shape(3))); }

void qlinear_conv_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &w = c.tensor(3);
  const ConvGeometry g = ConvGeometry::of(c.node(), Shape::from(x.dims()), Shape::from(w.dims()));
  std::vector<int64_t> sums = integer_convolution(c, g, x, w, 2, 5);
  if (c.has(8)) {
    require_per_channel(c.node(), Shape::from(c.tensor(8).dims()), g.y.channels, "bias");
    const std::vector<int64_t> bias = c.tensor(8).i64_values();
    for_each_channel(g.y, sums, [&](int64_t& v, size_t m) { v += bias[m]; });
  }
  const double x_scale = scalar_scale(c, 1), y_scale = scalar_scale(c, 6);
  std::vector<double> scale = per_channel(c.node(), c.tensor(4).f64_values(), g.y.channels.value(), "w_scale");
  for (double& s : scale) s = f32(f32(x_scale * s) / y_scale);
  std::vector<double> y(sums.begin(), sums.end());
  for_each_channel(g.y, y, [&](double& v, size_t m) { v = f32(f32(v) * scale[m]); });
  c.set(0, quantize(y, g.y.dims(), c.tensor(7).dtype(), scalar_zero_point(c, 7)));
}

const OpDef op_qlinear_conv = {
    .name = "qlinear_conv",
    .onnx = "QLinearConv",
    .doc = "y = saturate(round((convolution(x - xz, w - wz) + bias) * xs * ws / ys) + yz)",
    .types = "Ti f T Ui f U f i x",
    .min_inputs = 8,
    .max_inputs = 9,
    .infer = qlinear_conv_infer,
    .reference = qlinear_conv_reference,
};
const RegisterOp register_qlinear_conv(op_qlinear_conv);

}  // namespace
}  // namespace trine
