// InstanceNormalization and GroupNormalization: y = (x - mean) / sqrt(variance + epsilon) * scale + bias with mean and
// variance over a group of channels of one image. Instances are groups of one channel. Scale and bias are per channel.
// Source: Wu & He 2018.
#include <cmath>

#include "ops/norm.h"
#include "ops/types.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Scalar;

double epsilon_of(const Attrs& attrs) { return attrs.real("epsilon", 1e-5f); }

void infer(InferContext& c) {
  c.need_rank_at_least(0, 2);
  if (c.shape(0).has_rank())
    for (int i : {1, 2}) need_channels(c, i, c.shape(0)[1]);
  c.set(0, c.dtype(0), c.shape(0));
}

void infer_group(InferContext& c) {
  const int64_t groups = c.attrs().integer("num_groups");
  if (groups < 1) c.fail("num_groups is " + std::to_string(groups) + "; it must be positive");
  if (c.shape(0).has_rank() && c.shape(0).rank() > 1 && c.shape(0)[1].is_constant() &&
      c.shape(0)[1].value() % groups != 0)
    c.fail("num_groups " + std::to_string(groups) + " does not divide the channels of x " + c.input(0).text());
  infer(c);
}

// A group's elements are contiguous: x is [N * groups, channels / groups * spatial].
void normalize(EvalContext& c, int64_t groups) {
  const Tensor& x = c.tensor(0);
  const int64_t channels = x.dim(1);
  const std::vector<double> scale = channel_values(c, 1, channels), bias = channel_values(c, 2, channels);
  std::vector<double> y = x.f64_values();
  const int64_t rows = x.dim(0) * groups;
  if (y.empty()) return c.set(0, x);
  const int64_t length = x.elements() / rows, spatial = x.elements() / (x.dim(0) * channels);
  const Grouping layout = group({rows, length}, {false, true});
  for (int64_t start : layout.starts) {
    const Moments m = moments(y.data() + start, layout.steps);
    const double factor = 1 / std::sqrt(m.variance + epsilon_of(c.attrs()));
    for (int64_t i = start; i < start + length; ++i) {
      const auto channel = static_cast<size_t>(i / spatial % channels);
      double& v = y[static_cast<size_t>(i)];
      v = (v - m.mean) * factor * scale[channel] + bias[channel];
    }
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

void reference_instance(EvalContext& c) {
  if (c.tensor(0).rank() < 2) c.fail("x is " + c.tensor(0).type_text() + "; its rank must be at least 2");
  normalize(c, c.tensor(0).dim(1));
}

void reference_group(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int64_t groups = c.attrs().integer("num_groups");
  if (x.rank() < 2 || groups < 1 || x.dim(1) % groups != 0)
    c.fail("x is " + x.type_text() + "; num_groups " + std::to_string(groups) + " must divide its channels");
  normalize(c, groups);
}

// `width` channels to a group.
Scalar lower_groups(LowerContext& c, const Dim& width) {
  const Shape& shape = c.shape(0);
  const Index at = c.index();
  const Dim channel = at[1], first = width == Dim(1) ? channel : floor_div(channel, width) * width;
  std::vector<Dim> box_dims = {width};
  for (int d = 2; d < shape.rank(); ++d) box_dims.push_back(shape[d]);
  const FoldedBox box(Shape(box_dims), axes_from(static_cast<int>(box_dims.size()), 0), false);
  const auto element = [&](const Index& r) {
    Index index = {at[0], first + r[0]};
    index.insert(index.end(), r.begin() + 1, r.end());
    return c.load(0, index);
  };
  const LoweredMoments m = lower_moments(c, box, element);
  const Scalar normal =
      c.mul(c.sub(c.load(0, at), m.mean), lower_inverse_deviation(c, m.variance, epsilon_of(c.attrs())));
  return c.add(c.mul(normal, c.load(1, {channel})), c.load(2, {channel}));
}

Scalar lower_instance(LowerContext& c) { return c.shape(0).has_rank() ? lower_groups(c, 1) : Scalar{}; }

Scalar lower_group(LowerContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(0)[1].is_constant()) return {};
  return lower_groups(c, c.shape(0)[1].value() / c.attrs().integer("num_groups"));
}

const OpDef kInstance = {.name = "instance_normalization",
                         .onnx = "InstanceNormalization",
                         .doc = "normalises each channel of each image",
                         .types = "Tf T T",
                         .min_inputs = 3,
                         .max_inputs = 3,
                         .infer = infer,
                         .reference = reference_instance,
                         .lower = lower_instance};
const OpDef kGroup = {.name = "group_normalization",
                      .onnx = "GroupNormalization",
                      .doc = "normalises groups of channels of each image",
                      .types = "Tf T T",
                      .min_inputs = 3,
                      .max_inputs = 3,
                      .infer = infer_group,
                      .reference = reference_group,
                      .lower = lower_group};
const RegisterOp kRegistered[] = {RegisterOp(kInstance), RegisterOp(kGroup)};

}  // namespace
}  // namespace trine
