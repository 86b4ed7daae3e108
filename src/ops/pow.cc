// z = x^y with the type of x. An integer power of an integer is exact and wraps; a negative one truncates (2^-1 = 0).
#include <cmath>

#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;

static int64_t integer_pow(int64_t x, int64_t y, DType exponent_type) {
  if (y < 0 && exponent_type != DType::u64) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(x);
  for (auto rest = static_cast<uint64_t>(y); rest; rest >>= 1, square *= square)
    if (rest & 1) result *= square;
  return static_cast<int64_t>(result);
}

static void infer(InferContext& c) { c.set(0, c.dtype(0), broadcast(c.shape(0), c.shape(1))); }

static void reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &y = c.tensor(1);
  if (is_float(x.dtype()) || is_float(y.dtype())) {
    c.set(0, map_binary(x, y, x.dtype(), [](double a, double b) { return std::pow(a, b); }, nullptr));
  } else if (y.dtype() == DType::u64) {
    c.set(0, map_binary(x, y, x.dtype(), nullptr,
                        [](int64_t a, int64_t b, DType) { return integer_pow(a, b, DType::u64); }));
  } else {
    c.set(0, map_binary(x, y, x.dtype(), nullptr,
                        [](int64_t a, int64_t b, DType) { return integer_pow(a, b, DType::i64); }));
  }
}

// Small constant powers need no pow.
static Scalar lower(LowerContext& c) {
  if (!(type_set(c.input_type(0).dtype) & kFloats)) return {};
  Scalar x = c.load(0);
  const Tensor exponent = c.constant(1);
  const double y = exponent.defined() && exponent.elements() == 1 ? exponent.f64_values()[0] : 0;
  if (y == 1) return x;
  if (y == 2) return c.mul(x, x);
  if (y == 3) return c.mul(c.mul(x, x), x);
  if (y == -1) return c.apply(codegen::ScalarOp::reciprocal, x);
  return c.apply(codegen::ScalarOp::pow, x, c.cast(c.load(1), c.type(x)));
}

static const OpDef kPow = {.name = "pow",
                           .onnx = "Pow",
                           .doc = "x^y, of x's type",
                           .types = "fi fi",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer,
                           .reference = reference,
                           .lower = lower,
                           .elementwise = true};
static const RegisterOp kRegistered(kPow);

}  // namespace trine
