// Inference: y = x, mask all true. training_mode: each element is kept with probability 1 - ratio and then divided by
// it. Source: Srivastava et al. 2014.
#include "ops/elementwise.h"
#include "ops/random.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;

enum Input { kData, kRatio, kTraining };

void infer(InferContext& c) {
  for (int i : {kRatio, kTraining})
    if (c.has(i) && c.shape(i).is_static() && c.shape(i).elements() != Dim(1))
      c.fail("input " + std::to_string(i) + " is " + c.input(i).text() + "; it must hold one element");
  c.set(0, c.dtype(kData), c.shape(kData));
  c.set(1, DType::boolean, c.shape(kData));
}

double single(EvalContext& c, int input, double otherwise) {
  if (!c.has(input)) return otherwise;
  if (c.tensor(input).elements() != 1) c.fail("input " + std::to_string(input) + " must have one element");
  return c.tensor(input).f64_values()[0];
}

void reference(EvalContext& c) {
  const Tensor& x = c.tensor(kData);
  const double ratio = single(c, kRatio, 0.5);
  const bool drops = single(c, kTraining, 0) != 0 && ratio != 0;
  std::vector<int64_t> mask(static_cast<size_t>(x.elements()), 1);
  if (drops) {
    if (!(ratio > 0 && ratio < 1)) c.fail("ratio " + std::to_string(ratio) + " outside [0, 1)");
    const Philox random = random_stream(c.attrs());
    std::vector<double> y = x.f64_values();
    for (size_t i = 0; i < y.size(); ++i) {
      mask[i] = random.uniform(i) >= ratio;
      y[i] = mask[i] ? y[i] / (1 - ratio) : 0;
    }
    c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
  } else {
    c.set(0, x);
  }
  c.set(1, Tensor::from_i64(DType::boolean, x.dims(), mask));
}

Scalar lower(LowerContext& c) {
  if (c.has(kTraining)) {
    const Tensor training = c.constant(kTraining);
    if (!training.defined() || training.elements() != 1 || training.i64_values()[0] != 0) return {};
  }
  if (c.output() == 1) return c.constant(DType::boolean, 1);
  return has_loop_form(c.input_type(kData).dtype) ? c.load(kData) : Scalar{};
}

const OpDef kDropout = {.name = "dropout",
                        .onnx = "Dropout",
                        .doc = "x, or x / (1 - ratio) where a random mask keeps it",
                        .types = "fe fe b",
                        .max_inputs = 3,
                        .max_outputs = 2,
                        .infer = infer,
                        .reference = reference,
                        .lower = lower,
                        .impure = true};
const RegisterOp kRegistered(kDropout);

}  // namespace
}  // namespace trine
