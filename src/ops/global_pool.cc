// GlobalAveragePool, GlobalMaxPool, GlobalLpPool and com.microsoft's QLinearGlobalAveragePool: one value per image and
// channel, spatial dimensions kept as 1.
#include <cmath>
#include <limits>

#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"
#include "ops/quantized.h"
#include "ops/window.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

Image image_of(EvalContext& c) { return Image::of(c.node(), Shape::from(c.tensor(0).dims()), 2); }

Image pooled(Image image) {
  image.spatial.assign(image.spatial.size(), Dim(1));
  return image;
}

void global_pool_infer(InferContext& c) {
  c.set(0, c.dtype(0), c.shape(0).has_rank() ? pooled(Image::of(c.node(), c.shape(0), 2)).shape() : Shape());
}

// fold(accumulator, x) over the pixels of each image and channel, then finish(accumulator, pixels).
template <class Fold, class Finish>
std::vector<double> fold_pixels(const Image& image, const std::vector<double>& x, double start, Fold fold,
                                Finish finish) {
  const ImageStrides s = ImageStrides::of(image);
  std::vector<double> y;
  for (int64_t n = 0; n < image.batch.value(); ++n)
    for (int64_t ch = 0; ch < image.channels.value(); ++ch) {
      double value = start;
      for (int64_t p = 0; p < s.pixels; ++p)
        value = fold(value, x[static_cast<size_t>(n * s.batch + ch * s.channel + p * s.pixel)]);
      y.push_back(finish(value, static_cast<double>(s.pixels)));
    }
  return y;
}

std::vector<double> means(const Image& image, const std::vector<double>& x) {
  return fold_pixels(
      image, x, 0, [](double sum, double v) { return sum + v; }, [](double sum, double n) { return sum / n; });
}

// The output from one value for each image and channel.
void set_pooled(EvalContext& c, const std::vector<double>& values) {
  c.set(0, Tensor::from_f64(c.tensor(0).dtype(), pooled(image_of(c)).dims(), values));
}

void global_average_pool_reference(EvalContext& c) { set_pooled(c, means(image_of(c), c.tensor(0).f64_values())); }

void global_max_pool_reference(EvalContext& c) {
  const auto larger = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  const auto itself = [](double v, double) { return v; };
  set_pooled(
      c, fold_pixels(image_of(c), c.tensor(0).f64_values(), -std::numeric_limits<double>::infinity(), larger, itself));
}

double power_of(const Node& node) {
  const int64_t p = node.attrs.integer("p", 2);
  require(node, p >= 1, fmt::format("p is {}; want 1 or more", p));
  return static_cast<double>(p);
}

void global_lp_pool_reference(EvalContext& c) {
  const double p = power_of(c.node());
  const auto add = [p](double sum, double v) { return sum + std::pow(std::abs(v), p); };
  const auto root = [p](double sum, double) { return std::pow(sum, 1 / p); };
  set_pooled(c, fold_pixels(image_of(c), c.tensor(0).f64_values(), 0, add, root));
}

// Folds body(element) over the spatial dimensions of the output's image and channel.
Scalar reduce_pixels(LowerContext& c, Reduce kind, const std::function<Scalar(Scalar)>& body) {
  const Image image = Image::of(c.node(), c.shape(0), 2);
  const size_t first = image.nhwc ? 1 : 2;
  if (image.spatial.empty()) return body(c.load(0, c.index()));
  return c.reduce(kind, image.spatial, [&](const Index& r) {
    Index at = c.index();
    for (size_t i = 0; i < r.size(); ++i) at[first + i] = r[i];
    return body(c.load(0, at));
  });
}

Scalar global_average_pool_lower(LowerContext& c) {
  const Scalar sum = reduce_pixels(c, Reduce::sum, [](Scalar x) { return x; });
  Dim pixels = 1;
  for (const Dim& d : Image::of(c.node(), c.shape(0), 2).spatial) pixels = pixels * d;
  if (const auto n = pixels.constant(); n && *n > 0) return c.mul(sum, c.like(sum, 1.0 / static_cast<double>(*n)));
  return c.div(sum, c.cast(c.index_value(pixels), c.type(sum)));
}

Scalar global_max_pool_lower(LowerContext& c) {
  return reduce_pixels(c, Reduce::max, [](Scalar x) { return x; });
}

Scalar global_lp_pool_lower(LowerContext& c) {
  const double p = power_of(c.node());
  const auto term = [&](Scalar x) {
    return p == 2 ? c.mul(x, x) : c.apply(ScalarOp::pow, c.apply(ScalarOp::abs, x), c.like(x, p));
  };
  const Scalar sum = reduce_pixels(c, Reduce::sum, term);
  return p == 2 ? c.apply(ScalarOp::sqrt, sum) : c.apply(ScalarOp::pow, sum, c.like(sum, 1 / p));
}

const OpDef op_global_average_pool = {
    .name = "global_average_pool",
    .onnx = "GlobalAveragePool",
    .doc = "mean over the spatial dimensions; layout nchw or nhwc",
    .types = "f",
    .infer = global_pool_infer,
    .reference = global_average_pool_reference,
    .lower = global_average_pool_lower,
};
const RegisterOp register_global_average_pool(op_global_average_pool);

const OpDef op_global_max_pool = {
    .name = "global_max_pool",
    .onnx = "GlobalMaxPool",
    .doc = "maximum over the spatial dimensions; layout nchw or nhwc",
    .types = "f",
    .infer = global_pool_infer,
    .reference = global_max_pool_reference,
    .lower = global_max_pool_lower,
};
const RegisterOp register_global_max_pool(op_global_max_pool);

const OpDef op_global_lp_pool = {
    .name = "global_lp_pool",
    .onnx = "GlobalLpPool",
    .doc = "(sum of |x|^p over the spatial dimensions)^(1/p); layout nchw or nhwc",
    .types = "f",
    .infer = global_pool_infer,
    .reference = global_lp_pool_reference,
    .lower = global_lp_pool_lower,
};
const RegisterOp register_global_lp_pool(op_global_lp_pool);

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point; channels_last
void qlinear_global_average_pool_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Image image = image_of(c);
  // The sum is exact; all scales are one factor.
  std::vector<double> y = means(image, dequantize(x, 1, scalar_zero_point(c, 2)));
  double pixels = 1;
  for (const Dim& d : image.spatial) pixels *= static_cast<double>(d.value());
  const double factor = f32(scalar_scale(c, 1) / f32(scalar_scale(c, 3) * pixels));
  for (double& v : y) v = f32(f32(std::nearbyint(v * pixels)) * factor);
  c.set(0, quantize(y, pooled(image).dims(), x.dtype(), scalar_zero_point(c, 4)));
}

const OpDef op_qlinear_global_average_pool = {
    .name = "qlinear_global_average_pool",
    .onnx = "com.microsoft:QLinearGlobalAveragePool",
    .doc = "quantize(global_average_pool(dequantize(x)))",
    .types = "Ti f T f T",
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = global_pool_infer,
    .reference = qlinear_global_average_pool_reference,
};
const RegisterOp register_qlinear_global_average_pool(op_qlinear_global_average_pool);

}  // namespace
}  // namespace trine
