// Expand: broadcasts x with a shape, both ways. Tile: repeats x along each axis.
#include <algorithm>

#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

void infer_expand(InferContext& c) {
  const Shape& x = c.shape(0);
  c.need_rank(1, 1);
  const auto target = c.content(1);
  if (!target || !x.has_rank()) {
    const auto rank = known_length(c, 1);
    const bool known = rank && x.has_rank() && *rank <= kMaxRank;
    return c.set(0, c.dtype(0), known ? c.fresh_shape(std::max(x.rank(), static_cast<int>(*rank))) : Shape());
  }
  for (const Dim& d : *target)
    if (d.constant() && d.value() < 0) c.fail("shape holds " + d.text() + "; sizes must be >= 0");
  check_expands(c, Shape(*target));
  const Shape y = broadcast(x, Shape(*target));
  c.set(0, c.dtype(0), y);
  const auto content = c.content(0);
  if (!content || y.rank() > 1) return;
  const std::optional<int64_t> n = y.rank() == 0 ? 1 : y[0].constant();
  if (!n || *n > kMaxContent) return;
  if (content->size() == static_cast<size_t>(*n)) c.set_content(0, *content);
  if (content->size() == 1) c.set_content(0, std::vector<Dim>(static_cast<size_t>(*n), (*content)[0]));
}

void expand_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Dims target = c.tensor(1).i64_values();
  const int rank = std::max(x.rank(), static_cast<int>(target.size()));
  const auto strides = dense_strides(x.dims());
  View view{Dims(static_cast<size_t>(rank), 1), std::vector<int64_t>(static_cast<size_t>(rank), 0), 0};
  for (int i = 0; i < rank; ++i) {
    const auto k = static_cast<size_t>(i);
    const int in_x = i - (rank - x.rank()), in_target = i - (rank - static_cast<int>(target.size()));
    const int64_t a = in_x < 0 ? 1 : x.dim(in_x), b = in_target < 0 ? 1 : target[static_cast<size_t>(in_target)];
    if ((a != 1 && b != 1 && a != b) || b < 0)
      c.fail("cannot expand " + x.type_text() + " to [" + to_string(target) + "]; sizes must be equal or 1");
    view.dims[k] = a == 1 ? b : a;
    if (in_x >= 0 && a != 1) view.strides[k] = strides[static_cast<size_t>(in_x)];
  }
  c.set(0, copy_view(x, view));
}

codegen::Scalar expand_lower(codegen::LowerContext& c) { return c.load(0); }

const OpDef kExpand = {.name = "expand",
                       .onnx = "Expand",
                       .doc = "x broadcast with the given shape",
                       .types = "a x",
                       .min_inputs = 2,
                       .max_inputs = 2,
                       .infer = infer_expand,
                       .reference = expand_reference,
                       .lower = expand_lower};
const RegisterOp kRegisterExpand(kExpand);

void infer_tile(InferContext& c) {
  const Shape& x = c.shape(0);
  c.need_rank(1, 1);
  const auto repeats = c.content(1);
  if (!x.has_rank()) {
    const auto rank = known_length(c, 1);
    return c.set(0, c.dtype(0), rank && *rank <= kMaxRank ? c.fresh_shape(static_cast<int>(*rank)) : Shape());
  }
  if (!repeats) return c.set(0, c.dtype(0), c.fresh_shape(x.rank()));
  if (static_cast<int>(repeats->size()) != x.rank())
    c.fail(std::to_string(repeats->size()) + " repeats for " + c.input(0).text() + "; one per axis");
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& n = (*repeats)[static_cast<size_t>(i)];
    if (n.constant() && n.value() < 0) c.fail("repeats holds " + n.text() + "; it must be >= 0");
    dims.push_back(x[i] * n);
  }
  const bool small = x.rank() == 1 && dims[0].constant() && dims[0].value() <= kMaxContent;
  const auto content = c.content(0);
  c.set(0, c.dtype(0), Shape(dims));
  if (!small || !content || content->empty()) return;
  std::vector<Dim> tiled;
  for (int64_t i = 0; i < dims[0].value(); ++i) tiled.push_back((*content)[static_cast<size_t>(i) % content->size()]);
  c.set_content(0, std::move(tiled));
}

// Each axis becomes a pair (repeat, size), the repeat standing still in x.
void tile_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto repeats = c.tensor(1).i64_values();
  if (static_cast<int>(repeats.size()) != x.rank())
    c.fail(std::to_string(repeats.size()) + " repeats for " + x.type_text() + "; one per axis");
  const auto strides = dense_strides(x.dims());
  View view;
  Dims dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) c.fail("repeats holds " + std::to_string(repeats[i]) + "; it must be >= 0");
    dims.push_back(checked_mul(x.dims()[i], repeats[i]));
    view.dims.insert(view.dims.end(), {repeats[i], x.dims()[i]});
    view.strides.insert(view.strides.end(), {0, strides[i]});
  }
  element_count(dims);
  TensorBuilder y(x.dtype(), dims);
  const View to{view.dims, dense_strides(view.dims), 0};
  y.copy(to, x, view);
  c.set(0, y.take());
}

codegen::Scalar tile_lower(codegen::LowerContext& c) {
  codegen::Index at;
  for (int i = 0; i < c.shape(0).rank(); ++i) at.push_back(mod(c.index()[static_cast<size_t>(i)], c.shape(0)[i]));
  return c.load(0, at);
}

const OpDef kTile = {.name = "tile",
                     .onnx = "Tile",
                     .doc = "y[i...] = x[i mod dims(x)...], repeats[k] times along axis k",
                     .types = "a x",
                     .min_inputs = 2,
                     .max_inputs = 2,
                     .infer = infer_tile,
                     .reference = tile_reference,
                     .lower = tile_lower};
const RegisterOp kRegisterTile(kTile);

}  // namespace
}  // namespace trine
