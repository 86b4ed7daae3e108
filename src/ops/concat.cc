// Concat: tensors one behind the other along `axis`. Split: the inverse, into given or equal sizes.
#include <algorithm>

#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// Any input of known rank; -1 when there is none.
int ranked_input(const InferContext& c) {
  for (int i = 0; i < c.input_count(); ++i)
    if (c.shape(i).has_rank()) return i;
  return -1;
}

void concat_content(InferContext& c) {
  std::vector<Dim> all;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto part = c.content(i);
    if (!part || all.size() + part->size() > kMaxContent) return;
    all.insert(all.end(), part->begin(), part->end());
  }
  c.set_content(0, std::move(all));
}

void infer_concat(InferContext& c) {
  if (!c.attrs().has("axis")) c.fail("attribute axis is missing");
  const int first = ranked_input(c);
  if (first < 0) return c.set(0, c.dtype(0), Shape());
  const int rank = c.shape(first).rank();
  if (rank == 0) c.fail("input " + std::to_string(first) + " is a scalar; inputs must have an axis to join along");
  const int axis = c.axis(c.attrs().integer("axis"), rank);
  std::vector<Dim> dims = c.shape(first).dims();
  Dim total = 0;
  bool complete = true;
  for (int i = 0; i < c.input_count(); ++i) {
    const Shape& s = c.shape(i);
    if (!s.has_rank()) {
      complete = false;
      continue;
    }
    if (s.rank() != rank)
      c.fail("input " + std::to_string(i) + " is " + c.input(i).text() + ", input " + std::to_string(first) + " " +
             c.input(first).text() + "; ranks must be equal");
    for (int k = 0; k < rank; ++k)
      if (k != axis)
        dims[static_cast<size_t>(k)] = same_dim(c, dims[static_cast<size_t>(k)], s[k],
                                                "sizes of axis " + std::to_string(k) + " of inputs to join");
    total = total + s[axis];
  }
  dims[static_cast<size_t>(axis)] = complete ? total : c.fresh();
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  if (rank == 1) concat_content(c);
}

void concat_reference(EvalContext& c) {
  const int rank = c.tensor(0).rank();
  if (rank == 0) c.fail("input 0 is a scalar; inputs must have an axis to join along");
  const int axis = c.axis(c.attrs().integer("axis"), rank);
  Dims dims = c.tensor(0).dims();
  dims[static_cast<size_t>(axis)] = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& x = c.tensor(i);
    Dims same = x.dims();
    if (x.rank() == rank) same[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
    if (same != dims || x.dtype() != c.tensor(0).dtype())
      c.fail("input " + std::to_string(i) + " is " + x.type_text() + ", input 0 " + c.tensor(0).type_text() +
             "; they may differ in axis " + std::to_string(axis) + " only");
    dims[static_cast<size_t>(axis)] = checked_add(dims[static_cast<size_t>(axis)], x.dim(axis));
  }
  TensorBuilder y(c.tensor(0).dtype(), dims);
  const View whole = View::whole(dims);
  int64_t start = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& x = c.tensor(i);
    y.copy(whole.range(axis, start, x.dim(axis)), x, View::whole(x.dims()));
    start += x.dim(axis);
  }
  c.set(0, y.take());
}

// A chain of guarded loads, the last input being the final "else".
codegen::Scalar concat_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const int64_t rank = c.output_type().shape.rank();
  const int64_t given = c.attrs().integer("axis");
  const int axis = static_cast<int>(given < 0 ? given + rank : given);
  const Dim at = c.index()[static_cast<size_t>(axis)];
  const int count = static_cast<int>(c.node().inputs.size());
  std::vector<Dim> starts{Dim(0)};
  for (int i = 0; i + 1 < count; ++i) starts.push_back(starts.back() + c.shape(i)[axis]);
  codegen::Scalar value = c.constant(c.output_type().dtype, 0);
  for (int i = count - 1; i >= 0; --i) {
    const Dim& start = starts[static_cast<size_t>(i)];
    const auto here = c.index_value(at);
    auto inside = c.apply(ScalarOp::less, here, c.index_value(start + c.shape(i)[axis]));
    if (i > 0)
      inside = c.apply(ScalarOp::logical_and, inside, c.apply(ScalarOp::less_equal, c.index_value(start), here));
    value = c.load_if(inside, i, c.index_with(axis, at - start), value);
  }
  return value;
}

const OpDef kConcat = {.name = "concat",
                       .onnx = "Concat",
                       .doc = "the inputs one behind the other along `axis`",
                       .types = "T ...",
                       .min_inputs = 1,
                       .max_inputs = -1,
                       .infer = infer_concat,
                       .reference = concat_reference,
                       .lower = concat_lower};
const RegisterOp kRegisterConcat(kConcat);

int64_t part_count(const Attrs& attrs, int outputs) { return attrs.integer("num_outputs", outputs); }

// Sizes of the parts: given, or ceil(n / count) with a shorter rest.
std::optional<std::vector<Dim>> split_sizes(InferContext& c, const Dim& size) {
  if (c.has(1)) {
    auto sizes = c.content(1);
    if (sizes && static_cast<int>(sizes->size()) != c.output_count())
      c.fail(std::to_string(sizes->size()) + " sizes for " + std::to_string(c.output_count()) + " outputs");
    return sizes;
  }
  const int64_t count = part_count(c.attrs(), c.output_count());
  if (count != c.output_count())
    c.fail("num_outputs is " + std::to_string(count) + ", the node has " + std::to_string(c.output_count()) +
           " outputs");
  const Dim chunk = ceil_div(size, count);
  std::vector<Dim> sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(i + 1 < count && !size.is_constant() ? chunk : max(min(chunk, size - Dim(i) * chunk), 0));
  if (chunk * Dim(count) == size) std::fill(sizes.begin(), sizes.end(), chunk);
  return sizes;
}

void infer_split(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    for (int i = 0; i < c.output_count(); ++i) c.set(i, c.dtype(0), Shape());
    return;
  }
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  const auto sizes = split_sizes(c, x[axis]);
  const auto content = c.content(0);
  Dim total = 0;
  size_t start = 0;
  for (int i = 0; i < c.output_count(); ++i) {
    Shape part = x;
    part[axis] = sizes ? (*sizes)[static_cast<size_t>(i)] : c.fresh("split");
    if (part[axis].constant() && part[axis].value() < 0)
      c.fail("split size " + part[axis].text() + "; it must be >= 0");
    total = total + part[axis];
    c.set(i, c.dtype(0), part);
    if (!content || !part[axis].constant()) continue;
    const auto count = static_cast<size_t>(part[axis].value());
    if (start + count <= content->size())
      c.set_content(i, {content->begin() + static_cast<std::ptrdiff_t>(start),
                        content->begin() + static_cast<std::ptrdiff_t>(start + count)});
    start += count;
  }
  if (sizes && total.constant() && x[axis].constant() && total != x[axis])
    c.fail("split sizes sum to " + total.text() + ", axis " + std::to_string(axis) + " of " + c.input(0).text() +
           " is " + x[axis].text());
}

void split_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  std::vector<int64_t> sizes;
  if (c.has(1)) {
    sizes = c.tensor(1).i64_values();
  } else {
    const int64_t count = part_count(c.attrs(), c.output_count());
    const int64_t chunk = count > 0 ? (x.dim(axis) + count - 1) / count : 0;
    for (int i = 0; i < c.output_count(); ++i) sizes.push_back(std::clamp<int64_t>(x.dim(axis) - i * chunk, 0, chunk));
  }
  if (static_cast<int>(sizes.size()) != c.output_count())
    c.fail(std::to_string(sizes.size()) + " sizes for " + std::to_string(c.output_count()) + " outputs");
  int64_t total = 0;
  for (int64_t n : sizes) {
    if (n < 0) c.fail("split size " + std::to_string(n) + "; it must be >= 0");
    total = checked_add(total, n);
  }
  if (total != x.dim(axis))
    c.fail("split sizes sum to " + std::to_string(total) + ", axis " + std::to_string(axis) + " of " + x.type_text() +
           " is " + std::to_string(x.dim(axis)));
  const View whole = View::whole(x.dims());
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    c.set(static_cast<int>(i), copy_view(x, whole.range(axis, start, sizes[i])));
    start += sizes[i];
  }
}

const OpDef kSplit = {.name = "split",
                      .onnx = "Split",
                      .doc = "x cut along `axis` into parts of the given sizes",
                      .types = "a x",
                      .min_inputs = 1,
                      .max_inputs = 2,
                      .max_outputs = -1,
                      .infer = infer_split,
                      .reference = split_reference};
const RegisterOp kRegisterSplit(kSplit);

}  // namespace
}  // namespace trine
