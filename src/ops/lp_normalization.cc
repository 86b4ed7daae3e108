// LpNormalization: x / (sum |x|^p)^(1/p) along an axis, p 1 or 2, 0 where the norm is 0.
// MeanVarianceNormalization: (x - mean) / (sqrt(variance) + 1e-9) over axes.
#include <cmath>

#include "ops/norm.h"
#include "ops/types.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

int64_t order_of(const Attrs& attrs) { return attrs.integer("p", 2); }

void infer_lp(InferContext& c) {
  if (order_of(c.attrs()) != 1 && order_of(c.attrs()) != 2)
    c.fail("p is " + std::to_string(order_of(c.attrs())) + "; accepted: 1, 2");
  infer_along_axis(c, /*scalars=*/false);
}

void reference_lp(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const bool squares = order_of(c.attrs()) == 2;
  const Grouping rows = rows_along_axis(c, /*scalars=*/false);
  std::vector<double> y = x.f64_values();
  for (int64_t start : rows.starts) {
    double sum = 0;
    double* const row = group_data(y, start);
    for (int64_t step : rows.steps) sum += squares ? row[step] * row[step] : std::fabs(row[step]);
    const double norm = squares ? std::sqrt(sum) : sum;
    for (int64_t step : rows.steps) row[step] = norm == 0 ? 0 : row[step] / norm;
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

Scalar lower_lp(LowerContext& c) {
  const auto box = box_along_axis(c);
  if (!box) return {};
  const bool squares = order_of(c.attrs()) == 2;
  const Index here = c.index();
  const Scalar sum = box->fold(c, Reduce::sum, [&](const Index& r) {
    const Scalar v = c.load(0, box->at(here, r));
    return squares ? c.mul(v, v) : c.apply(ScalarOp::abs, v);
  });
  const Scalar norm = squares ? c.apply(ScalarOp::sqrt, sum) : sum, zero = c.like(norm, 0);
  return c.select(c.apply(ScalarOp::equal, norm, zero), zero, c.div(c.load(0, here), norm));
}

constexpr double kTinyDeviation = 1e-9;  // as in the ONNX function body

template <class Context>
AxisMask mean_variance_axes(const Context& c, int rank) {
  AxisMask mask(static_cast<size_t>(rank), false);
  for (int64_t a : c.attrs().integers("axes", {0, 2, 3})) mask[static_cast<size_t>(c.axis(a, rank))] = true;
  return mask;
}

void infer_mean_variance(InferContext& c) {
  if (c.shape(0).has_rank()) mean_variance_axes(c, c.shape(0).rank());
  c.set(0, c.dtype(0), c.shape(0));
}

void reference_mean_variance(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Grouping groups = group(x.dims(), mean_variance_axes(c, x.rank()));
  std::vector<double> y = x.f64_values();
  for (int64_t start : groups.starts) {
    double* const row = group_data(y, start);
    const Moments m = moments(row, groups.steps);
    for (int64_t step : groups.steps) row[step] = (row[step] - m.mean) / (std::sqrt(m.variance) + kTinyDeviation);
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

Scalar lower_mean_variance(LowerContext& c) {
  const Shape& shape = c.shape(0);
  if (!shape.has_rank()) return {};
  AxisMask mask(static_cast<size_t>(shape.rank()), false);
  for (int64_t a : c.attrs().integers("axes", {0, 2, 3}))
    mask[static_cast<size_t>(a < 0 ? a + shape.rank() : a)] = true;
  const FoldedBox box(shape, mask, true);
  const Index here = c.index();
  const LoweredMoments m = lower_moments(c, box, [&](const Index& r) { return c.load(0, box.at(here, r)); });
  const Scalar deviation = c.apply(ScalarOp::sqrt, m.variance);
  return c.div(c.sub(c.load(0, here), m.mean), c.add(deviation, c.like(deviation, kTinyDeviation)));
}

const OpDef kLp = {.name = "lp_normalization",
                   .onnx = "LpNormalization",
                   .doc = "x / its p-norm along axis",
                   .types = "f",
                   .infer = infer_lp,
                   .reference = reference_lp,
                   .lower = lower_lp};
const OpDef kMeanVariance = {.name = "mean_variance_normalization",
                             .onnx = "MeanVarianceNormalization",
                             .doc = "(x - mean) / deviation over axes",
                             .types = "f",
                             .infer = infer_mean_variance,
                             .reference = reference_mean_variance,
                             .lower = lower_mean_variance};
const RegisterOp kRegistered[] = {RegisterOp(kLp), RegisterOp(kMeanVariance)};

}  // namespace
}  // namespace trine
