// Shifts by y bits to the LEFT or RIGHT; a right shift of a signed number fills with its sign. An amount outside
// [0, bits) shifts everything out: 0, or -1 for a negative number shifted right.
#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

static bool shifts_right(const Attrs& attrs) { return attrs.string("direction", "LEFT") == "RIGHT"; }

static bool moves_all(int64_t amount, DType type) { return amount < 0 || amount >= bit_width(type); }

static int64_t shift_left(int64_t x, int64_t amount, DType type) {
  return moves_all(amount, type) ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << amount);
}

static int64_t shift_right(int64_t x, int64_t amount, DType type) {
  if (moves_all(amount, type)) return x < 0 && !is_unsigned(type) ? -1 : 0;
  return type == DType::u64 ? static_cast<int64_t>(static_cast<uint64_t>(x) >> amount) : x >> amount;
}

static void infer(InferContext& c) {
  const std::string direction = c.attrs().string("direction");
  if (direction != "LEFT" && direction != "RIGHT") c.fail("direction is \"" + direction + "\"; accepted: LEFT, RIGHT");
  infer_broadcast(c);
}

static void reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &y = c.tensor(1);
  c.set(0, map_binary(x, y, x.dtype(), nullptr, shifts_right(c.attrs()) ? shift_right : shift_left));
}

static Scalar lower(LowerContext& c) {
  Scalar x = c.load(0), amount = c.load(1), zero = c.like(x, 0);
  const DType type = c.input_type(0).dtype;
  const bool right = shifts_right(c.attrs());
  Scalar inside = c.apply(ScalarOp::less, amount, c.like(amount, bit_width(type)));
  if (!is_unsigned(type))
    inside = c.apply(ScalarOp::logical_and, inside, c.apply(ScalarOp::less_equal, c.like(amount, 0), amount));
  Scalar shifted = c.apply(right ? ScalarOp::shift_right : ScalarOp::shift_left, x, c.select(inside, amount, zero));
  Scalar fill = zero;
  if (right && !is_unsigned(type)) fill = c.select(c.apply(ScalarOp::less, x, zero), c.like(x, -1), zero);
  return wrapped(c, c.select(inside, shifted, fill));
}

static const OpDef kBitShift = {.name = "bit_shift",
                                .onnx = "BitShift",
                                .doc = "x << y or x >> y",
                                .types = "Ti T",
                                .min_inputs = 2,
                                .max_inputs = 2,
                                .infer = infer,
                                .reference = reference,
                                .lower = lower,
                                .elementwise = true};
static const RegisterOp kRegistered(kBitShift);

}  // namespace trine
