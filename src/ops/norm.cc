#include "ops/norm.h"

#include <fmt/format.h>

namespace trine {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

Moments moments(const double* group, const std::vector<int64_t>& steps, bool centred) {
  const auto n = static_cast<double>(steps.size());
  double mean = 0, squares = 0;
  if (centred) {
    for (int64_t step : steps) mean += group[step];
    mean /= n;
  }
  for (int64_t step : steps) squares += (group[step] - mean) * (group[step] - mean);
  return {mean, squares / n};
}

LoweredMoments lower_moments(LowerContext& c, const FoldedBox& box, const FoldedBox::Body& x, bool centred) {
  Scalar mean;
  if (centred) {
    const Scalar sum = box.fold(c, Reduce::sum, x);
    mean = c.div(sum, box.count(c, sum));
  }
  const Scalar squares = box.fold(c, Reduce::sum, [&](const Index& r) {
    const Scalar d = centred ? c.sub(x(r), mean) : x(r);
    return c.mul(d, d);
  });
  return {mean, c.div(squares, box.count(c, squares))};
}

Scalar lower_inverse_deviation(LowerContext& c, Scalar variance, double epsilon) {
  return c.apply(ScalarOp::reciprocal, c.apply(ScalarOp::sqrt, c.add(variance, c.like(variance, epsilon))));
}

std::vector<double> channel_values(EvalContext& c, int input, int64_t channels) {
  const Tensor& t = c.tensor(input);
  if (t.elements() != channels)
    c.fail(fmt::format("input {} is {}; it must have one element for each of {} channels", input, t.type_text(),
                       channels));
  return t.f64_values();
}

void need_channels(InferContext& c, int input, const Dim& channels) {
  c.need_rank(input, 1);
  const Shape& shape = c.shape(input);
  if (shape.has_rank() && shape[0].is_constant() && channels.is_constant() && shape[0] != channels)
    c.fail(fmt::format("input {} is {}; it must have one element for each of {} channels", input, c.input(input).text(),
                       channels.text()));
}

}  // namespace trine
