// y_i = e^(x_i - m) / sum_j e^(x_j - m) along `axis`, m the maximum; LogSoftmax is its logarithm. A row of -inf gives
// NaN. Source: Milakov & Gimelshein 2018 (the shift by the maximum).
#include <cmath>

#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

void infer(InferContext& c) { infer_along_axis(c, /*scalars=*/true); }

// Calls f(element, maximum, sum of e^(x - maximum)) for each element.
template <class F>
void map_rows(EvalContext& c, F f) {
  const Tensor& x = c.tensor(0);
  const Grouping rows = rows_along_axis(c, /*scalars=*/true);
  std::vector<double> y = x.f64_values();
  for (int64_t start : rows.starts) {
    double* row = group_data(y, start);
    double m = -INFINITY, sum = 0;
    for (int64_t step : rows.steps) m = row[step] > m || std::isnan(row[step]) ? row[step] : m;
    for (int64_t step : rows.steps) sum += std::exp(row[step] - m);
    for (int64_t step : rows.steps) row[step] = f(row[step], m, sum);
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

void reference_softmax(EvalContext& c) {
  map_rows(c, [](double x, double m, double sum) { return std::exp(x - m) / sum; });
}
void reference_log_softmax(EvalContext& c) {
  map_rows(c, [](double x, double m, double sum) { return x - m - std::log(sum); });
}

struct Row {
  Scalar shifted, sum;  // x - m, sum of e^(x - m)
};

std::optional<Row> lower_row(LowerContext& c) {
  const auto box = box_along_axis(c);
  if (!box) return std::nullopt;
  const Index here = c.index();
  const auto element = [&](const Index& r) { return c.load(0, box->at(here, r)); };
  const Scalar m = box->fold(c, Reduce::max, element);
  const Scalar sum = box->fold(c, Reduce::sum, [&](const Index& r) { return c.exp(c.sub(element(r), m)); });
  return Row{c.sub(c.load(0, here), m), sum};
}

Scalar lower_softmax(LowerContext& c) {
  const auto row = lower_row(c);
  // One division a row; the product is within 1.5 ulp of the quotient.
  return row ? c.mul(c.exp(row->shifted), c.apply(ScalarOp::reciprocal, row->sum)) : Scalar{};
}
Scalar lower_log_softmax(LowerContext& c) {
  const auto row = lower_row(c);
  return row ? c.sub(row->shifted, c.apply(ScalarOp::log, row->sum)) : Scalar{};
}

const OpDef kSoftmax = {.name = "softmax",
                        .onnx = "Softmax",
                        .doc = "e^x / sum of e^x along axis",
                        .types = "f",
                        .infer = infer,
                        .reference = reference_softmax,
                        .lower = lower_softmax};
const OpDef kLogSoftmax = {.name = "log_softmax",
                           .onnx = "LogSoftmax",
                           .doc = "x - ln of sum of e^x along axis",
                           .types = "f",
                           .infer = infer,
                           .reference = reference_log_softmax,
                           .lower = lower_log_softmax};
const RegisterOp kRegistered[] = {RegisterOp(kSoftmax), RegisterOp(kLogSoftmax)};

}  // namespace
}  // namespace trine
