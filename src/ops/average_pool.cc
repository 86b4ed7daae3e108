// AveragePool, LpPool and com.microsoft's QLinearAveragePool.
//   average: sum over the window / number of its taps inside the input (or, with count_include_pad, inside input +
//   pads) lp:      (sum |x|^p)^(1/p)
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"
#include "ops/quantized.h"
#include "ops/window.h"

namespace trine {
namespace {

void pool_infer(InferContext& c) {
  if (!c.shape(0).has_rank()) return c.set(0, c.dtype(0), Shape());
  Image image = Image::of(c.node(), c.shape(0));
  const Window window = Window::of(c.node(), static_cast<int>(image.spatial.size()));
  image.spatial = window_output(c.node(), window, image.spatial);
  c.set(0, c.dtype(0), image.shape());
}

struct Pooled {
  Dims dims;
  std::vector<double> values;
};

// Sums f(x) under every window, then finish(sum, grid, output position, taps).
template <class F, class Finish>
Pooled pool(const Node& node, const Dims& dims, const std::vector<double>& x, F f, Finish finish) {
  const Image in = Image::of(node, Shape::from(dims));
  const Window window = Window::of(node, static_cast<int>(in.spatial.size()));
  const WindowGrid grid = WindowGrid::of(node, window, in.spatial);
  Image out = in;
  out.spatial.assign(grid.out.begin(), grid.out.end());
  const ImageStrides xs = ImageStrides::of(in), ys = ImageStrides::of(out);
  Pooled y{out.dims(), std::vector<double>(value_count(out.dims()))};
  for_each_window(grid, [&](int64_t o, const std::vector<Tap>& taps) {
    for (int64_t n = 0; n < in.batch.value(); ++n)
      for (int64_t ch = 0; ch < in.channels.value(); ++ch) {
        const double* plane = x.data() + n * xs.batch + ch * xs.channel;
        double sum = 0;
        for (const Tap& tap : taps) sum = f(sum, plane[tap.input * xs.pixel]);
        y.values[static_cast<size_t>(n * ys.batch + ch * ys.channel + o * ys.pixel)] = finish(sum, grid, o, taps);
      }
  });
  return y;
}

template <class F>
Pooled average(const Node& node, const Dims& dims, const std::vector<double>& x, F add) {
  const bool with_pads = node.attrs.integer("count_include_pad") != 0;
  return pool(node, dims, x, add,
              [with_pads](double sum, const WindowGrid& grid, int64_t o, const std::vector<Tap>& taps) {
                return sum / static_cast<double>(with_pads ? padded_taps(grid, o) : static_cast<int64_t>(taps.size()));
              });
}

void average_pool_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Pooled y = average(c.node(), x.dims(), x.f64_values(), [](double a, double b) { return a + b; });
  c.set(0, Tensor::from_f64(x.dtype(), y.dims, y.values));
}

const OpDef op_average_pool = {
    .name = "average_pool",
    .onnx = "AveragePool",
    .doc = "mean under each window; layout nchw or nhwc",
    .types = "f",
    .infer = pool_infer,
    .reference = average_pool_reference,
};
const RegisterOp register_average_pool(op_average_pool);

void lp_pool_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const double p = static_cast<double>(c.attrs().integer("p", 2));
  require(c.node(), p >= 1, fmt::format("p is {}; want 1 or more", p));
  const Pooled y = pool(
      c.node(), x.dims(), x.f64_values(), [p](double sum, double v) { return sum + std::pow(std::abs(v), p); },
      [p](double sum, const WindowGrid&, int64_t, const std::vector<Tap>&) { return std::pow(sum, 1 / p); });
  c.set(0, Tensor::from_f64(x.dtype(), y.dims, y.values));
}

const OpDef op_lp_pool = {
    .name = "lp_pool",
    .onnx = "LpPool",
    .doc = "(sum of |x|^p under each window)^(1/p); layout nchw or nhwc",
    .types = "f",
    .infer = pool_infer,
    .reference = lp_pool_reference,
};
const RegisterOp register_lp_pool(op_lp_pool);

// Inputs: x, x_scale, [x_zero_point], y_scale, [y_zero_point]
void qlinear_average_pool_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  Pooled y = average(c.node(), x.dims(), dequantize(x, scalar_scale(c, 1), scalar_zero_point(c, 2)),
                     [](double a, double b) { return f32(a + b); });
  const double scale = scalar_scale(c, 3);
  const auto zero = static_cast<double>(scalar_zero_point(c, 4));  // added before rounding, as in QLinearAdd
  for (double& v : y.values) v = f32(over(v, scale) + zero);
  c.set(0, quantize(y.values, y.dims, x.dtype(), 0));
}

const OpDef op_qlinear_average_pool = {
    .name = "qlinear_average_pool",
    .onnx = "com.microsoft:QLinearAveragePool",
    .doc = "quantize(average_pool(dequantize(x)))",
    .types = "Ti f T f T",
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = pool_infer,
    .reference = qlinear_average_pool_reference,
};
const RegisterOp register_qlinear_average_pool(op_qlinear_average_pool);

}  // namespace
}  // namespace trine
