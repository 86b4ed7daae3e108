// Local response normalisation: y = x / (bias + alpha / size * s)^beta, s the sum of x^2 over `size` neighbouring
// channels, floor((size - 1) / 2) before and ceil((size - 1) / 2) after. Source: Krizhevsky et al. 2012.
#include <cmath>

#include "ops/broadcast.h"
#include "ops/rows.h"
#include "ops/types.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

constexpr int64_t kMaxLoop = 4096;  // beyond, the reference's clipped window is faster

struct Parameters {
  int64_t size;
  double alpha, beta, bias;

  explicit Parameters(const Attrs& attrs)
      : size(attrs.integer("size")),
        alpha(attrs.real("alpha", 1e-4f)),
        beta(attrs.real("beta", 0.75f)),
        bias(attrs.real("bias", 1.0f)) {}
  int64_t before() const { return (size - 1) / 2; }
  int64_t after() const { return size / 2; }
};

void infer(InferContext& c) {
  c.need_rank_at_least(0, 2);
  if (Parameters(c.attrs()).size < 1)
    c.fail("size is " + std::to_string(Parameters(c.attrs()).size) + "; it must be positive");
  c.set(0, c.dtype(0), c.shape(0));
}

void reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Parameters p(c.attrs());
  if (x.rank() < 2 || p.size < 1) c.fail("x is " + x.type_text() + "; rank 2 and a positive size are needed");
  const std::vector<double> values = x.f64_values();
  std::vector<double> y(values.size());
  const int64_t channels = x.dim(1), spatial = x.elements() ? x.elements() / (x.dim(0) * channels) : 0;
  const int64_t before = std::min(p.before(), channels), after = std::min(p.after(), channels);
  for (size_t i = 0; i < y.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t channel = at / spatial % channels;
    double sum = 0;
    for (int64_t k = std::max<int64_t>(channel - before, 0); k <= std::min(channel + after, channels - 1); ++k) {
      const double v = values[static_cast<size_t>(at + (k - channel) * spatial)];
      sum += v * v;
    }
    y[i] = values[i] / std::pow(p.bias + p.alpha / static_cast<double>(p.size) * sum, p.beta);
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

Scalar lower(LowerContext& c) {
  const Parameters p(c.attrs());
  if (!c.shape(0).has_rank() || p.size > kMaxLoop) return {};
  const Index here = c.index();
  const Scalar x = c.load(0, here), zero = c.like(x, 0), channels = c.index_value(c.shape(0)[1]);
  const Scalar sum = c.reduce(codegen::Reduce::sum, {Dim(p.size)}, [&](const Index& r) {
    Index at = here;
    at[1] = here[1] + r[0] - p.before();
    const Scalar k = c.index_value(at[1]);
    const Scalar inside = c.apply(ScalarOp::logical_and, c.apply(ScalarOp::less_equal, c.like(k, 0), k),
                                  c.apply(ScalarOp::less, k, channels));
    const Scalar v = c.load_if(inside, 0, at, zero);
    return c.mul(v, v);
  });
  const Scalar base = c.add(c.like(sum, p.bias), c.mul(sum, c.like(sum, p.alpha / static_cast<double>(p.size))));
  return c.div(x, c.apply(ScalarOp::pow, base, c.like(base, p.beta)));
}

const OpDef kLrn = {.name = "lrn",
                    .onnx = "LRN",
                    .doc = "x / (bias + alpha / size * sum of x^2 of channels near)^beta",
                    .types = "f",
                    .infer = infer,
                    .reference = reference,
                    .lower = lower};
const RegisterOp kRegistered(kLrn);

}  // namespace
}  // namespace trine
