// y = condition ? a : b, broadcast; elements of any type are moved, not converted.
#include <cstring>

#include "ops/elementwise.h"
#include "ops/node_error.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;

// Picks symbolic elements where the condition is known.
static void infer_content(InferContext& c, DType type) {
  auto condition = c.integers(0);
  auto a = c.content(1), b = c.content(2);
  if (!condition || !a || !b) return;
  size_t n = 1;
  for (size_t size : {condition->size(), a->size(), b->size()})
    if (size != 1) n = size;
  std::vector<Dim> result;
  for (size_t i = 0; i < n; ++i) {
    const auto& from = (*condition)[condition->size() == 1 ? 0 : i] ? *a : *b;
    result.push_back(from[from.size() == 1 ? 0 : i]);
  }
  set_checked_content(c, type, std::move(result));
}

static void infer(InferContext& c) {
  const DType type = c.dtype(1) != DType::none ? c.dtype(1) : c.dtype(2);
  c.set(0, type, broadcast(broadcast(c.shape(0), c.shape(1)), c.shape(2)));
  infer_content(c, type);
}

static void reference(EvalContext& c) {
  const Tensor &condition = c.tensor(0), &a = c.tensor(1), &b = c.tensor(2);
  const Dims dims = broadcast_dims({&condition.dims(), &a.dims(), &b.dims()});
  Walk w(dims, {broadcast_strides(condition.dims(), dims), broadcast_strides(a.dims(), dims),
                broadcast_strides(b.dims(), dims)});
  const auto* chooses = condition.as<uint8_t>();
  if (a.dtype() == DType::string) {
    std::vector<std::string> y(value_count(dims));
    for (; !w.done(); w.next())
      y[static_cast<size_t>(w.position())] = chooses[w.offset(0)] ? a.strings()[static_cast<size_t>(w.offset(1))]
                                                                  : b.strings()[static_cast<size_t>(w.offset(2))];
    return c.set(0, Tensor::of_strings(dims, std::move(y)));
  }
  Tensor y(a.dtype(), dims);
  const size_t size = byte_size(a.dtype());
  for (; !w.done(); w.next()) {
    const char* from = chooses[w.offset(0)] ? a.as<char>() + size * static_cast<size_t>(w.offset(1))
                                            : b.as<char>() + size * static_cast<size_t>(w.offset(2));
    std::memcpy(y.mutable_as<char>() + size * static_cast<size_t>(w.position()), from, size);
  }
  c.set(0, std::move(y));
}

static Scalar lower(LowerContext& c) {
  if (!has_loop_form(c.output_type().dtype)) return {};
  return c.select(c.load(0), c.load(1), c.load(2));
}

static const OpDef kWhere = {.name = "where",
                             .onnx = "Where",
                             .doc = "condition ? a : b",
                             .types = "b T T",
                             .min_inputs = 3,
                             .max_inputs = 3,
                             .infer = infer,
                             .reference = reference,
                             .lower = lower,
                             .elementwise = true};
static const RegisterOp kRegistered(kWhere);

}  // namespace trine
