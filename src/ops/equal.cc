// a == b, for every element type that can be compared, strings too. NaN equals nothing; -0 equals 0.
#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;

// Known only where it holds for all values of the symbols, or for none.
static void infer_content(InferContext& c) {
  auto a = c.content(0), b = c.content(1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  std::vector<Dim> result(a->size() == 1 ? b->size() : a->size());
  for (size_t i = 0; i < result.size(); ++i) {
    auto equal = always_equal((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!equal) return;
    result[i] = *equal ? 1 : 0;
  }
  set_checked_content(c, DType::boolean, std::move(result));
}

static void infer(InferContext& c) {
  infer_broadcast_bool(c);
  infer_content(c);
}

static Tensor compare_strings(const Tensor& a, const Tensor& b) {
  const Dims dims = broadcast_dims(a.dims(), b.dims());
  Tensor y(DType::boolean, dims);
  for (Walk w(dims, {broadcast_strides(a.dims(), dims), broadcast_strides(b.dims(), dims)}); !w.done(); w.next())
    y.mutable_as<uint8_t>()[w.position()] =
        a.strings()[static_cast<size_t>(w.offset(0))] == b.strings()[static_cast<size_t>(w.offset(1))];
  return y;
}

static void reference(EvalContext& c) {
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  if (a.dtype() == DType::string) return c.set(0, compare_strings(a, b));
  c.set(0, map_binary(
               a, b, DType::boolean, [](double x, double y) { return double(x == y); },
               [](int64_t x, int64_t y, DType) { return int64_t{x == y}; }));
}

static Scalar lower(LowerContext& c) {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  Scalar a = c.load(0), b = c.load(1);
  if (c.type(a) != DType::boolean) return c.apply(codegen::ScalarOp::equal, a, b);
  return c.apply(codegen::ScalarOp::logical_not, c.apply(codegen::ScalarOp::logical_xor, a, b));
}

static const OpDef kEqual = {.name = "equal",
                             .onnx = "Equal",
                             .doc = "a == b",
                             .types = "Tfibs T",
                             .min_inputs = 2,
                             .max_inputs = 2,
                             .infer = infer,
                             .reference = reference,
                             .lower = lower,
                             .elementwise = true,
                             .commutative = true};
static const RegisterOp kRegistered(kEqual);

}  // namespace trine
