// OneHot: along a new axis of size `depth`, `on` where the coordinate is the index and `off` elsewhere. An index in
// [-depth, -1] wraps; one outside gives all `off`. values = [off, on].
#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// The place of the new axis among rank + 1.
template <class C>
int new_axis(const C& c, int rank) {
  return c.axis(c.attrs().integer("axis", -1), rank + 1);
}

std::optional<int64_t> known_depth(const InferContext& c) {
  if (const auto depth = known_scalar(c, 1)) return depth;
  const Tensor depth = c.constant(1);
  if (!depth.defined() || depth.elements() != 1) return std::nullopt;
  return depth.i64_values()[0];
}

void infer_one_hot(InferContext& c) {
  c.need_rank(2, 1);
  if (c.shape(2).has_rank() && c.shape(2)[0].constant() && c.shape(2)[0] != Dim(2))
    c.fail("values are " + c.input(2).text() + "; they must be [off, on]");
  const Shape& indices = c.shape(0);
  const auto content = c.content(1);
  if (!indices.has_rank()) return c.set(0, c.dtype(2), Shape());
  std::vector<Dim> dims = indices.dims();
  const auto depth = known_depth(c);
  if (depth && *depth < 0) c.fail("depth is " + std::to_string(*depth) + "; it must be >= 0");
  const Dim size = depth ? Dim(*depth) : content && content->size() == 1 ? (*content)[0] : c.fresh("depth");
  dims.insert(dims.begin() + new_axis(c, indices.rank()), size);
  c.set(0, c.dtype(2), Shape(std::move(dims)));
}

void one_hot_reference(EvalContext& c) {
  const Tensor &indices = c.tensor(0), &values = c.tensor(2);
  const int64_t depth = scalar_integer(c, 1, "depth");
  if (depth < 0) c.fail("depth is " + std::to_string(depth) + "; it must be >= 0");
  if (values.elements() != 2) c.fail("values are " + values.type_text() + "; they must be [off, on]");
  const int axis = new_axis(c, indices.rank());
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  TensorBuilder y(values.dtype(), dims);
  y.fill(values);  // element 0: off
  if (element_count(dims) > 0) {
    const int64_t inner = dense_strides(dims)[static_cast<size_t>(axis)];
    const auto at = indices.i64_values();
    for (int64_t i = 0; i < static_cast<int64_t>(at.size()); ++i) {
      const int64_t index = at[static_cast<size_t>(i)];
      if (index < -depth || index >= depth) continue;
      y.copy((i / inner * depth + (index < 0 ? index + depth : index)) * inner + i % inner, values, 1);
    }
  }
  c.set(0, y.take());
}

codegen::Scalar one_hot_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const int64_t rank = c.output_type().shape.rank(), given = c.attrs().integer("axis", -1);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  codegen::Index at = c.index();
  at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto index = c.cast(c.load(0, at), DType::i64);
  const auto depth = c.index_value(c.output_type().shape[static_cast<int>(axis)]);
  const auto wrapped = c.select(c.apply(ScalarOp::less, index, c.like(index, 0)), c.add(index, depth), index);
  const auto hit = c.apply(ScalarOp::equal, wrapped, c.index_value(c.index()[axis]));
  return c.select(hit, c.load(2, {Dim(1)}), c.load(2, {Dim(0)}));
}

const OpDef kOneHot = {.name = "one_hot",
                       .onnx = "OneHot",
                       .doc = "y[..., j, ...] = j == indices[...] ? on : off",
                       .types = "fi fi a",
                       .min_inputs = 3,
                       .max_inputs = 3,
                       .infer = infer_one_hot,
                       .reference = one_hot_reference,
                       .lower = one_hot_lower};
const RegisterOp kRegisterOneHot(kOneHot);

}  // namespace
}  // namespace trine
