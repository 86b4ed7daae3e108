#include "passes/number_formats.h"

#include "base/float_formats.h"

namespace trine {
namespace {

Tensor converted(const Tensor& from, DType to) {
  Tensor y(to, from.dims());
  const auto count = static_cast<size_t>(from.elements());
  if (to == DType::f32) {
    for (size_t i = 0; i < count; ++i)
      y.mutable_as<float>()[i] = static_cast<float>(small_float_value(from.dtype(), from.as<uint16_t>()[i]));
  } else {
    for (size_t i = 0; i < count; ++i)
      y.mutable_as<uint16_t>()[i] = small_float_bits(to, static_cast<double>(from.as<float>()[i]));
  }
  return y;
}

ValueId cast(Rewriter& r, ValueId v, DType to) {
  Attrs attrs;
  attrs.set("to", std::string(name(to)));
  return r.add("cast", {v}, std::move(attrs));
}

}  // namespace

ValueId as_type(Rewriter& r, ValueId v, DType to) {
  if (v == kNoValue || r.dtype(v) == to) return v;
  if (r.is_constant(v)) return r.add_constant(converted(r.constant(v), to));
  const int before = r.made_by(v, "cast");
  const bool widened = before >= 0 && r.dtype(v) == DType::f32 && r.dtype(r.input(before, 0)) == to;
  return widened ? r.input(before, 0) : cast(r, v, to);
}

void compute_elsewhere(Rewriter& r, int n, std::vector<ValueId> inputs, Attrs attrs) {
  const Node& node = r.node(n);
  const std::vector<ValueId> outputs = node.outputs;
  const ValueId first =
      r.add(node.op->name, std::move(inputs), std::move(attrs), {n}, static_cast<int>(outputs.size()));
  const std::vector<ValueId> made = r.node(r.maker(first)).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoValue) continue;
    Attrs to;
    to.set("to", std::string(name(r.dtype(outputs[i]))));
    r.make(outputs[i], "cast", {made[i]}, std::move(to));
  }
}

}  // namespace trine
