// SplitToSequence: a tensor cut along an axis into a sequence. ConcatFromSequence: the inverse, along an axis that the
// elements have, or (new_axis) a new one.
#include <algorithm>

#include "ops/movement.h"
#include "ops/shape_rules.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

// Without `split` and with keepdims = 0 each element is one slice without the axis.
template <class C>
bool drops_axis(const C& c) {
  return !c.has(1) && c.attrs().integer("keepdims", 1) == 0;
}

void infer_split_to_sequence(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, Type::sequence(Type::tensor(c.dtype(0), Shape())));
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  if (drops_axis(c)) return c.set(0, Type::sequence(Type::tensor(c.dtype(0), without_axis(x, axis))));
  Shape part = x;
  const auto sizes = c.integers(1);
  const bool scalar = c.has(1) && c.shape(1).has_rank() && c.shape(1).rank() == 0;
  part[axis] = c.has(1) ? c.fresh("part") : Dim(1);
  if (sizes && !sizes->empty() && (*sizes)[0] > 0) {
    const bool even = x[axis].constant() && x[axis].value() % (*sizes)[0] == 0;
    const bool equal = std::all_of(sizes->begin(), sizes->end(), [&](int64_t n) { return n == (*sizes)[0]; });
    if (scalar ? even : equal) part[axis] = (*sizes)[0];
  }
  c.set(0, Type::sequence(Type::tensor(c.dtype(0), part)));
}

std::vector<int64_t> part_sizes(const EvalContext& c, int64_t size) {
  if (c.has(1) && c.tensor(1).rank() == 1) {
    const auto sizes = c.tensor(1).i64_values();
    int64_t total = 0;
    for (int64_t n : sizes) {
      if (n < 0) c.fail("split size " + std::to_string(n) + "; it must be >= 0");
      total = checked_add(total, n);
    }
    if (total != size) c.fail("split sizes sum to " + std::to_string(total) + ", the axis is " + std::to_string(size));
    return sizes;
  }
  const int64_t chunk = c.has(1) ? scalar_integer(c, 1, "split") : 1;
  if (chunk <= 0) c.fail("split is " + std::to_string(chunk) + "; it must be > 0");
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < size; at += sizes.back()) sizes.push_back(std::min(chunk, size - at));
  return sizes;
}

void split_to_sequence_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  Dims without = x.dims();
  without.erase(without.begin() + axis);
  const View whole = View::whole(x.dims());
  Datum::Sequence parts;
  int64_t start = 0;
  for (int64_t n : part_sizes(c, x.dim(axis))) {
    const Tensor part = copy_view(x, whole.range(axis, start, n));
    parts.push_back(drops_axis(c) ? part.reshaped(without) : part);
    start += n;
  }
  Datum result = Datum::sequence(std::move(parts));
  if (result.items().empty()) result.sequence_type = Type::sequence(Type::tensor(x.dtype(), Shape()));
  c.set(0, std::move(result));
}

const OpDef kSplitToSequence = {.name = "split_to_sequence",
                                .onnx = "SplitToSequence",
                                .doc = "x cut along `axis` into a sequence",
                                .types = "a x",
                                .min_inputs = 1,
                                .max_inputs = 2,
                                .infer = infer_split_to_sequence,
                                .reference = split_to_sequence_reference};
const RegisterOp kRegisterSplitToSequence(kSplitToSequence);

void infer_concat_from_sequence(InferContext& c) {
  const Type element = element_type(c.input(0));
  const Shape& x = element.shape;
  if (!x.has_rank()) return c.set(0, element.dtype, Shape());
  const bool new_axis = c.attrs().integer("new_axis") != 0;
  const int axis = c.axis(c.attrs().integer("axis"), x.rank() + (new_axis ? 1 : 0));
  Shape y = new_axis ? with_axis(x, axis, 1) : x;
  y[axis] = c.fresh("concat");
  c.set(0, element.dtype, y);
}

void concat_from_sequence_reference(EvalContext& c) {
  if (!c.datum(0).is_sequence() || c.datum(0).items().empty()) c.fail("input 0 must be a sequence that is not empty");
  const bool new_axis = c.attrs().integer("new_axis") != 0;
  std::vector<Tensor> parts;
  for (const Datum& item : c.datum(0).items()) {
    if (!item.is_tensor()) c.fail("an element is no tensor");
    parts.push_back(item.tensor());
  }
  const Tensor first = parts[0];
  const int axis = c.axis(c.attrs().integer("axis"), first.rank() + (new_axis ? 1 : 0));
  int64_t total = 0;
  for (Tensor& part : parts) {
    bool fits = part.dtype() == first.dtype() && part.rank() == first.rank();
    for (int k = 0; fits && k < part.rank(); ++k) fits = (!new_axis && k == axis) || part.dim(k) == first.dim(k);
    if (!fits) c.fail("elements are " + first.type_text() + " and " + part.type_text() + "; they cannot be joined");
    if (new_axis) {
      Dims dims = part.dims();
      dims.insert(dims.begin() + axis, 1);
      part = part.reshaped(dims);
    }
    total = checked_add(total, part.dim(axis));
  }
  Dims dims = parts[0].dims();
  dims[static_cast<size_t>(axis)] = total;
  TensorBuilder y(first.dtype(), dims);
  const View whole = View::whole(dims);
  int64_t start = 0;
  for (const Tensor& part : parts) {
    y.copy(whole.range(axis, start, part.dim(axis)), part, View::whole(part.dims()));
    start += part.dim(axis);
  }
  c.set(0, y.take());
}

const OpDef kConcatFromSequence = {.name = "concat_from_sequence",
                                   .onnx = "ConcatFromSequence",
                                   .doc = "the elements of a sequence joined along `axis`",
                                   .types = "?",
                                   .infer = infer_concat_from_sequence,
                                   .reference = concat_from_sequence_reference};
const RegisterOp kRegisterConcatFromSequence(kConcatFromSequence);

}  // namespace
}  // namespace trine
