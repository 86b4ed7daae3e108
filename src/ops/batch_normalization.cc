// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, for each channel (dimension 1; a vector is one channel).
// Mean and variance are inputs; in training mode they are those of the batch, and outputs 1 and 2 move the inputs
// towards them: running = running * momentum + batch * (1 - momentum). Source: Ioffe & Szegedy 2015.
#include <cmath>

#include "ops/norm.h"
#include "ops/types.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;

enum Input { kX, kScale, kBias, kMean, kVariance };

bool trains(const Attrs& attrs) { return attrs.integer("training_mode") != 0; }
double epsilon_of(const Attrs& attrs) { return attrs.real("epsilon", 1e-5f); }

void infer(InferContext& c) {
  c.need_rank_at_least(kX, 1);
  if (c.shape(kX).has_rank()) {
    const Dim channels = c.shape(kX).rank() > 1 ? c.shape(kX)[1] : Dim(1);
    for (int i : {kScale, kBias, kMean, kVariance}) need_channels(c, i, channels);
  }
  c.set(0, c.dtype(kX), c.shape(kX));
  c.set(1, c.dtype(kMean), c.shape(kMean));
  c.set(2, c.dtype(kVariance), c.shape(kVariance));
}

AxisMask all_but_channel(int rank) {
  AxisMask mask(static_cast<size_t>(rank), true);
  if (rank > 1) mask[1] = false;
  return mask;
}

std::vector<double> mixed(const std::vector<double>& running, const std::vector<double>& batch, double momentum) {
  std::vector<double> out;
  for (size_t i = 0; i < running.size(); ++i) out.push_back(running[i] * momentum + batch[i] * (1 - momentum));
  return out;
}

void reference(EvalContext& c) {
  const Tensor& x = c.tensor(kX);
  if (x.rank() == 0) c.fail("x is a scalar; its rank must be at least 1");
  const Grouping channels = group(x.dims(), all_but_channel(x.rank()));
  const auto n = static_cast<int64_t>(channels.starts.size());
  const std::vector<double> scale = channel_values(c, kScale, n), bias = channel_values(c, kBias, n);
  const std::vector<double> running_mean = channel_values(c, kMean, n),
                            running_variance = channel_values(c, kVariance, n);
  std::vector<double> mean = running_mean, variance = running_variance, y = x.f64_values();
  const double epsilon = epsilon_of(c.attrs()), momentum = c.attrs().real("momentum", 0.9f);
  for (size_t k = 0; k < channels.starts.size(); ++k) {
    double* const channel = group_data(y, channels.starts[k]);
    if (trains(c.attrs())) {
      const Moments m = moments(channel, channels.steps);
      mean[k] = m.mean;
      variance[k] = m.variance;
    }
    const double factor = scale[k] / std::sqrt(variance[k] + epsilon);
    for (int64_t step : channels.steps) channel[step] = (channel[step] - mean[k]) * factor + bias[k];
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
  const Tensor &m = c.tensor(kMean), &v = c.tensor(kVariance);
  c.set(1, trains(c.attrs()) ? Tensor::from_f64(m.dtype(), m.dims(), mixed(running_mean, mean, momentum)) : m);
  c.set(2, trains(c.attrs()) ? Tensor::from_f64(v.dtype(), v.dims(), mixed(running_variance, variance, momentum)) : v);
}

Scalar lower(LowerContext& c) {
  if (trains(c.attrs()) || c.output() != 0 || !c.shape(kX).has_rank()) return {};
  const Scalar x = c.load(kX, c.index());
  const Dim channel = c.index().size() > 1 ? c.index()[1] : Dim(0);
  const auto parameter = [&](int i) { return c.cast(c.load(i, {channel}), c.type(x)); };
  const Scalar factor =
      c.mul(parameter(kScale), lower_inverse_deviation(c, parameter(kVariance), epsilon_of(c.attrs())));
  return c.add(c.mul(c.sub(x, parameter(kMean)), factor), parameter(kBias));
}

const OpDef kBatchNormalization = {.name = "batch_normalization",
                                   .onnx = "BatchNormalization",
                                   .doc = "(x - mean) / sqrt(variance + epsilon) * scale + bias, by channel",
                                   .types = "f Tf T Uf U",
                                   .min_inputs = 5,
                                   .max_inputs = 5,
                                   .max_outputs = 3,
                                   .infer = infer,
                                   .reference = reference,
                                   .lower = lower};
const RegisterOp kRegistered(kBatchNormalization);

}  // namespace
}  // namespace trine
