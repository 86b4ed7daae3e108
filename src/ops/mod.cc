// Remainders. fmod = 0: a - floor(a / b) b, the divisor's sign (Python's %); fmod = 1: a - trunc(a / b) b, the
// dividend's sign (C's %). Integer x mod 0 is 0, float x mod 0 is NaN.
#include <cmath>

#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

static bool truncates(const Attrs& attrs) { return attrs.integer("fmod") != 0; }

static double real_floor_mod(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0) return std::isnan(b) ? r : std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

static int64_t integer_trunc_mod(int64_t a, int64_t b, DType type) {
  if (b == 0 || b == -1) return type == DType::u64 && b != 0 ? (a == -1 ? 0 : a) : 0;
  if (type == DType::u64) return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return a % b;
}

static int64_t integer_floor_mod(int64_t a, int64_t b, DType type) {
  const int64_t r = integer_trunc_mod(a, b, type);
  return type != DType::u64 && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static void infer(InferContext& c) {
  infer_broadcast(c);
  if (!truncates(c.attrs())) fold_content(c, floor_mod);
}

static void reference(EvalContext& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  if (truncates(c.attrs()))
    c.set(0, map_binary(a, b, a.dtype(), [](double x, double y) { return std::fmod(x, y); }, integer_trunc_mod));
  else c.set(0, map_binary(a, b, a.dtype(), real_floor_mod, integer_floor_mod));
}

static Scalar lower(LowerContext& c) {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  return wrapped(c, c.apply(truncates(c.attrs()) ? ScalarOp::fmod : ScalarOp::mod, c.load(0), c.load(1)));
}

static const OpDef kMod = {.name = "mod",
                           .onnx = "Mod",
                           .doc = "remainder of a / b",
                           .types = "Tfi T",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer,
                           .reference = reference,
                           .lower = lower,
                           .elementwise = true};
static const RegisterOp kRegistered(kMod);

}  // namespace trine
