// Gather: slices of x along one axis. GatherElements: one element per index. GatherND: slices by index tuples.
// Indices are data: each is checked, and one out of range is an error that gives the bounds.
#include <algorithm>

#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

void gather_content(InferContext& c) {
  const auto content = c.content(0);
  const auto indices = c.integers(1);
  if (!content || !indices || c.shape(1).rank() > 1) return;
  const auto n = static_cast<int64_t>(content->size());
  std::vector<Dim> picked;
  for (int64_t i : *indices) {
    if (i < -n || i >= n)
      c.fail("index " + std::to_string(i) + " outside [-" + std::to_string(n) + ", " + std::to_string(n - 1) + "]");
    picked.push_back((*content)[static_cast<size_t>(i < 0 ? i + n : i)]);
  }
  c.set_content(0, std::move(picked));
}

void infer_gather(InferContext& c) {
  const Shape &x = c.shape(0), &indices = c.shape(1);
  c.need_rank_at_least(0, 1);
  if (!x.has_rank() || !indices.has_rank()) return c.set(0, c.dtype(0), Shape());
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  std::vector<Dim> dims(x.dims().begin(), x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  if (x.rank() == 1 && indices.rank() <= 1) gather_content(c);
}

void gather_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &indices = c.tensor(1);
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  Dims dims(x.dims().begin(), x.dims().begin() + axis);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer = checked_mul(outer, x.dim(i));
  for (int i = axis + 1; i < x.rank(); ++i) inner = checked_mul(inner, x.dim(i));
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  std::vector<int64_t> at = indices.i64_values();
  for (int64_t& i : at) i = c.checked_index(i, x.dim(axis));
  TensorBuilder y(x.dtype(), dims);
  if (element_count(dims) > 0) {
    const auto n = static_cast<int64_t>(at.size());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < n; ++k)
        y.copy((o * n + k) * inner, x, (o * x.dim(axis) + at[static_cast<size_t>(k)]) * inner, inner);
  }
  c.set(0, y.take());
}

bool all_inside(const Tensor& indices, const Dim& size) {
  if (!indices.defined() || !size.constant()) return false;
  for (int64_t i : indices.i64_values())
    if (i < -size.value() || i >= size.value()) return false;
  return true;
}

// Lowered for constant indices, checked here: a generated kernel could not report one out of range.
codegen::Scalar gather_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const int64_t given = c.attrs().integer("axis");
  const int rank = c.shape(0).rank(), axis = static_cast<int>(given < 0 ? given + rank : given);
  const Dim& size = c.shape(0)[axis];
  if (!all_inside(c.constant(1), size)) return {};
  const auto& out = c.index();
  const int in_indices = c.shape(1).rank();
  const codegen::Index pick(out.begin() + axis, out.begin() + axis + in_indices);
  codegen::Index at(out.begin(), out.begin() + axis);
  at.push_back(0);
  at.insert(at.end(), out.begin() + axis + in_indices, out.end());
  const auto index = c.cast(c.load(1, pick), DType::i64);
  const auto wrapped =
      c.select(c.apply(ScalarOp::less, index, c.like(index, 0)), c.add(index, c.index_value(size)), index);
  return c.load_at(0, at, axis, wrapped);
}

const OpDef kGather = {.name = "gather",
                       .onnx = "Gather",
                       .doc = "y[a..., i..., b...] = x[a..., indices[i...], b...]",
                       .types = "a x",
                       .min_inputs = 2,
                       .max_inputs = 2,
                       .infer = infer_gather,
                       .reference = gather_reference,
                       .lower = gather_lower};
const RegisterOp kRegisterGather(kGather);

void infer_gather_elements(InferContext& c) {
  c.need_rank_at_least(0, 1);
  const Shape &x = c.shape(0), &indices = c.shape(1);
  if (x.has_rank()) {
    c.axis(c.attrs().integer("axis"), x.rank());
    c.need_rank(1, x.rank());
  }
  c.set(0, c.dtype(0), indices.has_rank() || !x.has_rank() ? indices : c.fresh_shape(x.rank()));
}

void gather_elements_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &indices = c.tensor(1);
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  if (indices.rank() != x.rank())
    c.fail("indices are " + indices.type_text() + ", x " + x.type_text() + "; equal ranks");
  for (int k = 0; k < x.rank(); ++k)
    if (k != axis && indices.dim(k) > x.dim(k))
      c.fail("indices are " + indices.type_text() + ", larger than x " + x.type_text());
  const auto strides = dense_strides(x.dims());
  const auto at = indices.i64_values();
  TensorBuilder y(x.dtype(), indices.dims());
  std::vector<int64_t> index(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < at.size(); ++i, next_index(index, indices.dims())) {
    int64_t from = c.checked_index(at[i], x.dim(axis)) * strides[static_cast<size_t>(axis)];
    for (int k = 0; k < x.rank(); ++k)
      if (k != axis) from += index[static_cast<size_t>(k)] * strides[static_cast<size_t>(k)];
    y.copy(static_cast<int64_t>(i), x, from);
  }
  c.set(0, y.take());
}

const OpDef kGatherElements = {.name = "gather_elements",
                               .onnx = "GatherElements",
                               .doc = "y[i...] = x[i... with the coordinate of `axis` replaced by indices[i...]]",
                               .types = "a x",
                               .min_inputs = 2,
                               .max_inputs = 2,
                               .infer = infer_gather_elements,
                               .reference = gather_elements_reference};
const RegisterOp kRegisterGatherElements(kGatherElements);

void infer_gather_nd(InferContext& c) {
  c.need_rank_at_least(0, 1);
  c.need_rank_at_least(1, 1);
  const Shape &x = c.shape(0), &indices = c.shape(1);
  const int64_t batch = c.attrs().integer("batch_dims");
  if (!x.has_rank() || !indices.has_rank() || !indices[indices.rank() - 1].constant())
    return c.set(0, c.dtype(0), Shape());
  const int64_t tuple = indices[indices.rank() - 1].value();
  if (batch < 0 || batch >= std::min(x.rank(), indices.rank()) || tuple < 1 || tuple > x.rank() - batch)
    c.fail("x " + c.input(0).text() + ", indices " + c.input(1).text() + ", batch_dims " + std::to_string(batch) +
           "; tuples must have 1 .. rank(x) - batch_dims entries");
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), x.dims().begin() + batch + tuple, x.dims().end());
  c.set(0, c.dtype(0), Shape(std::move(dims)));
}

void gather_nd_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &indices = c.tensor(1);
  const int64_t batch = c.attrs().integer("batch_dims");
  if (x.rank() < 1 || indices.rank() < 1 || batch < 0 || batch >= std::min(x.rank(), indices.rank()))
    c.fail("x " + x.type_text() + ", indices " + indices.type_text() + ", batch_dims " + std::to_string(batch));
  const int64_t tuple = indices.dim(indices.rank() - 1);
  if (tuple < 1 || tuple > x.rank() - batch)
    c.fail("tuples of " + std::to_string(tuple) + " entries for " + x.type_text() + "; 1 .. rank(x) - batch_dims");
  int64_t batches = 1;
  for (int k = 0; k < batch; ++k) {
    if (x.dim(k) != indices.dim(k))
      c.fail("batch axis " + std::to_string(k) + " differs: x " + x.type_text() + ", indices " + indices.type_text());
    batches *= x.dim(k);
  }
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), x.dims().begin() + batch + tuple, x.dims().end());
  const auto strides = dense_strides(x.dims());
  const int64_t slice = strides[static_cast<size_t>(batch + tuple - 1)];
  const auto at = indices.i64_values();
  TensorBuilder y(x.dtype(), dims);
  const int64_t tuples = static_cast<int64_t>(at.size()) / tuple;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t from = batch == 0 ? 0 : t / (tuples / batches) * strides[static_cast<size_t>(batch - 1)];
    for (int64_t k = 0; k < tuple; ++k)
      from += c.checked_index(at[static_cast<size_t>(t * tuple + k)], x.dim(static_cast<int>(batch + k))) *
              strides[static_cast<size_t>(batch + k)];
    y.copy(t * slice, x, from, slice);
  }
  c.set(0, y.take());
}

const OpDef kGatherNd = {.name = "gather_nd",
                         .onnx = "GatherND",
                         .doc = "y[i..., s...] = x[indices[i..., :], s...], batch_dims leading axes in common",
                         .types = "a x",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .infer = infer_gather_nd,
                         .reference = gather_nd_reference};
const RegisterOp kRegisterGatherNd(kGatherNd);

}  // namespace
}  // namespace trine
