// MaxPool: the largest element under each window, padding being -infinity; NaN wins, ties go to the first in row-major
// order. Indices are flat into the whole [N, C, spatial...] tensor whatever the layout, with the spatial part
// column-major for storage_order = 1.
#include <cmath>
#include <limits>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"
#include "ops/window.h"

namespace trine {
namespace {

void max_pool_infer(InferContext& c) {
  Shape out;
  if (c.shape(0).has_rank()) {
    Image image = Image::of(c.node(), c.shape(0));
    const Window window = Window::of(c.node(), static_cast<int>(image.spatial.size()));
    image.spatial = window_output(c.node(), window, image.spatial);
    out = image.shape();
  }
  c.set(0, c.dtype(0), out);
  c.set(1, DType::i64, out);
}

// Row-major flat position -> column-major flat position over the same dimensions.
int64_t column_major(int64_t flat, const Dims& dims) {
  Dims at(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) at[i] = flat % dims[i];
  int64_t position = 0;
  for (size_t i = dims.size(); i-- > 0;) position = position * dims[i] + at[i];
  return position;
}

void max_pool_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Image in = Image::of(c.node(), Shape::from(x.dims()));
  const Window window = Window::of(c.node(), static_cast<int>(in.spatial.size()));
  const WindowGrid grid = WindowGrid::of(c.node(), window, in.spatial);
  Image out = in;
  out.spatial.assign(grid.out.begin(), grid.out.end());
  const ImageStrides xs = ImageStrides::of(in), ys = ImageStrides::of(out);
  const int64_t batch = in.batch.value(), channels = in.channels.value();
  const bool by_column = c.attrs().integer("storage_order") != 0;
  const double least =
      is_float(x.dtype()) ? -std::numeric_limits<double>::infinity() : static_cast<double>(integer_min(x.dtype()));
  const std::vector<double> xv = x.f64_values();
  std::vector<double> y(value_count(out.dims()));
  std::vector<int64_t> indices(y.size());
  for_each_window(grid, [&](int64_t o, const std::vector<Tap>& taps) {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t ch = 0; ch < channels; ++ch) {
        const double* plane = xv.data() + n * xs.batch + ch * xs.channel;
        double best = least;
        int64_t where = taps.empty() ? 0 : taps[0].input;
        for (const Tap& tap : taps) {
          const double v = plane[tap.input * xs.pixel];
          if (v > best || (std::isnan(v) && !std::isnan(best))) best = v, where = tap.input;
        }
        const size_t at = static_cast<size_t>(n * ys.batch + ch * ys.channel + o * ys.pixel);
        y[at] = best;
        indices[at] = (n * channels + ch) * xs.pixels + (by_column ? column_major(where, grid.in) : where);
      }
  });
  c.set(0, Tensor::from_f64(x.dtype(), out.dims(), y));
  if (c.wants(1)) c.set(1, Tensor::from_i64(DType::i64, out.dims(), indices));
}

const OpDef op_max_pool = {
    .name = "max_pool",
    .onnx = "MaxPool",
    .doc = "largest element under each window, and where it was; layout nchw or nhwc",
    .types = "fi",
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = max_pool_infer,
    .reference = max_pool_reference,
};
const RegisterOp register_max_pool(op_max_pool);

// MaxUnpool: zeros with x[i] at flat position indices[i] of the tensor that the pooling had read,
//   size = (in - 1) * stride - pads + kernel.  A larger output_shape keeps that tensor in its low corner.
Window unpool_window(const Node& node, const Shape& x) {
  require(node, x.rank() >= 3, fmt::format("x has shape [{}]; want [N, C, spatial...]", x.text()));
  return Window::of(node, x.rank() - 2);
}

std::vector<Dim> unpooled(const Node& node, const Shape& x) {
  const Window w = unpool_window(node, x);
  std::vector<Dim> dims = {x[0], x[1]};
  for (int i = 0; i < w.rank(); ++i) {
    const size_t d = static_cast<size_t>(i), n = static_cast<size_t>(w.rank());
    dims.push_back((x[i + 2] - 1) * w.strides[d] + w.kernel[d] - w.pads[d] - w.pads[n + d]);
    if (const auto v = dims.back().constant())
      require(node, *v >= 0, fmt::format("output dimension {} would be {}", i + 2, *v));
  }
  check_growth(node, {x.dims().begin() + 2, x.dims().end()}, {dims.begin() + 2, dims.end()});
  return dims;
}

void max_unpool_infer(InferContext& c) {
  if (c.has(2)) {
    if (const auto content = c.content(2)) return c.set(0, c.dtype(0), Shape(*content));
    return c.set(0, c.dtype(0), c.shape(0).has_rank() ? c.fresh_shape(c.shape(0).rank()) : Shape());
  }
  c.set(0, c.dtype(0), c.shape(0).has_rank() ? Shape(unpooled(c.node(), c.shape(0))) : Shape());
}

void max_unpool_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &index = c.tensor(1);
  require(c.node(), index.dims() == x.dims(),
          fmt::format("indices are {}, x is {}; want one shape", index.type_text(), x.type_text()));
  const Dims inner = Shape(unpooled(c.node(), Shape::from(x.dims()))).static_dims();
  Dims out = inner;
  if (c.has(2)) {
    out = c.tensor(2).i64_values();
    bool holds = out.size() == inner.size();
    for (size_t i = 0; holds && i < out.size(); ++i) holds = out[i] >= inner[i];
    require(c.node(), holds, fmt::format("output_shape is [{}]; want at least [{}]", to_string(out), to_string(inner)));
    const Shape from = Shape::from(inner), to = Shape::from(out);
    check_growth(c.node(), {from.dims().begin() + 2, from.dims().end()}, {to.dims().begin() + 2, to.dims().end()});
  }
  const int64_t count = element_count(inner);
  const std::vector<double> xv = x.f64_values();
  const std::vector<int64_t> at = index.i64_values();
  std::vector<double> y(value_count(out), 0.0);
  for (size_t i = 0; i < xv.size(); ++i) {
    int64_t rest = c.checked_index(at[i], count, "index"), to = 0, scale = 1;
    for (size_t d = inner.size(); d-- > 0; rest /= inner[d], scale *= out[d]) to += rest % inner[d] * scale;
    y[static_cast<size_t>(to)] = xv[i];
  }
  c.set(0, Tensor::from_f64(x.dtype(), out, y));
}

const OpDef op_max_unpool = {
    .name = "max_unpool",
    .onnx = "MaxUnpool",
    .doc = "y[indices[i]] = x[i], 0 elsewhere",
    .types = "fi Ux U",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = max_unpool_infer,
    .reference = max_unpool_reference,
};
const RegisterOp register_max_unpool(op_max_unpool);

}  // namespace
}  // namespace trine
