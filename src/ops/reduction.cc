#include "ops/reduction.h"

#include "ops/node_error.h"
#include "ops/types.h"

namespace trine {

// Offsets of all elements of the box made by the dimensions whose flag equals `folds`.
static std::vector<int64_t> offsets(const Dims& dims, const AxisMask& folded, bool folds) {
  const Strides dense = dense_strides(dims);
  Dims box;
  Strides strides;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (folded[d] != folds) continue;
    box.push_back(dims[d]);
    strides.push_back(dense[d]);
  }
  std::vector<int64_t> out;
  out.reserve(value_count(box));
  for (Walk w(box, {strides}); !w.done(); w.next()) out.push_back(w.offset(0));
  return out;
}

Grouping group(const Dims& dims, const AxisMask& folded) {
  return {offsets(dims, folded, false), offsets(dims, folded, true)};
}

AxisMask single_axis(int rank, int axis) {
  AxisMask mask(static_cast<size_t>(rank), false);
  mask[static_cast<size_t>(axis)] = true;
  return mask;
}

AxisMask axes_from(int rank, int first) {
  AxisMask mask(static_cast<size_t>(rank), false);
  for (int i = first; i < rank; ++i) mask[static_cast<size_t>(i)] = true;
  return mask;
}

template <class T>
static std::vector<T> reduced(const std::vector<T>& dims, const AxisMask& folded, bool keep) {
  std::vector<T> out;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!folded[d]) out.push_back(dims[d]);
    else if (keep) out.push_back(T(1));
  return out;
}

Dims reduced_dims(const Dims& dims, const AxisMask& folded, bool keep) { return reduced(dims, folded, keep); }
Shape reduced_shape(const Shape& shape, const AxisMask& folded, bool keep) {
  return reduced(shape.dims(), folded, keep);
}

bool keeps_dims(const Attrs& attrs) { return attrs.integer("keepdims", 1) != 0; }

template <class Context>
static AxisMask mask_of(const Context& c, const std::vector<int64_t>& axes, int rank) {
  AxisMask mask(static_cast<size_t>(rank), axes.empty() && c.attrs().integer("noop_with_empty_axes") == 0);
  std::vector<bool> named(static_cast<size_t>(rank));
  for (int64_t a : axes) {
    const auto axis = static_cast<size_t>(c.axis(a, rank));
    if (named[axis]) c.fail("axes name axis " + std::to_string(axis) + " twice; each may come once");
    named[axis] = mask[axis] = true;
  }
  return mask;
}

AxisMask folded_axes(const InferContext& c, const std::vector<int64_t>& axes, int rank) {
  return mask_of(c, axes, rank);
}
AxisMask folded_axes(const EvalContext& c, const std::vector<int64_t>& axes, int rank) {
  return mask_of(c, axes, rank);
}

FoldedBox::FoldedBox(const Shape& shape, AxisMask mask, bool keep) : folded(std::move(mask)), keep(keep) {
  for (size_t d = 0; d < folded.size(); ++d)
    if (folded[d]) extents.push_back(shape[static_cast<int>(d)]);
}

constexpr int64_t kLastAxis = -1;

void infer_along_axis(InferContext& c, bool scalars) {
  if (c.shape(0).has_rank()) c.axis(c.attrs().integer("axis", kLastAxis), std::max<int>(c.shape(0).rank(), scalars));
  c.set(0, c.dtype(0), c.shape(0));
}

Grouping rows_along_axis(EvalContext& c, bool scalars) {
  const Dims& dims = c.tensor(0).dims();
  const int rank = c.tensor(0).rank(),
            axis = c.axis(c.attrs().integer("axis", kLastAxis), std::max<int>(rank, scalars));
  return rank == 0 ? Grouping{{0}, {0}} : group(dims, single_axis(rank, axis));
}

std::optional<FoldedBox> box_along_axis(const codegen::LowerContext& c) {
  const Shape& shape = c.shape(0);
  if (!shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const auto axis = static_cast<int>(c.attrs().integer("axis", kLastAxis));
  return FoldedBox(shape, single_axis(shape.rank(), axis < 0 ? axis + shape.rank() : axis), true);
}

codegen::Scalar FoldedBox::fold(codegen::LowerContext& c, codegen::Reduce kind, const Body& body) const {
  return extents.empty() ? body({}) : c.reduce(kind, extents, body);
}

codegen::Index FoldedBox::at(const codegen::Index& result, const codegen::Index& r) const {
  codegen::Index index;
  size_t next_kept = 0, next_folded = 0;
  for (bool folds : folded) {
    index.push_back(folds ? r[next_folded++] : result[next_kept]);
    if (!folds || keep) ++next_kept;
  }
  return index;
}

codegen::Scalar FoldedBox::count(codegen::LowerContext& c, codegen::Scalar a) const {
  Dim n = 1;
  for (const Dim& d : extents) n = n * d;
  return n.is_constant() ? c.like(a, static_cast<double>(n.value())) : c.cast(c.index_value(n), c.type(a));
}

}  // namespace trine
