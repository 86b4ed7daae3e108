// Reductions: which axes fold, and where the elements of each group lie.
#pragma once

#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/broadcast.h"

namespace trine {

using AxisMask = std::vector<bool>;  // one flag for each dimension

// The elements of a dense tensor, in groups: element k of group g is data[starts[g] + steps[k]]. Groups are ordered as
// the kept dimensions are, elements of a group as the folded ones.
struct Grouping {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;
};
Grouping group(const Dims& dims, const AxisMask& folded);

// Where the group that starts at `start` has its data. Of no data there are groups too, without an element or an
// address.
template <class Vector>
auto* group_data(Vector& data, int64_t start) {
  return data.empty() ? nullptr : data.data() + start;
}

AxisMask single_axis(int rank, int axis);
AxisMask axes_from(int rank, int first);  // first, first + 1, ..., rank - 1

// Operators along their one attribute `axis`, by default the last: type and shape stay. `scalars`: a tensor of rank 0
// counts as a row of one element, else it is refused.
void infer_along_axis(InferContext& c, bool scalars);
Grouping rows_along_axis(EvalContext& c, bool scalars);

// `dims` with folded dimensions made 1, or dropped.
Dims reduced_dims(const Dims& dims, const AxisMask& folded, bool keep);
Shape reduced_shape(const Shape& shape, const AxisMask& folded, bool keep);

// Attributes noop_with_empty_axes and keepdims as every ONNX reduction has them. Empty or absent axes mean all, or none
// with noop_with_empty_axes.
bool keeps_dims(const Attrs& attrs);
AxisMask folded_axes(const InferContext& c, const std::vector<int64_t>& axes, int rank);
AxisMask folded_axes(const EvalContext& c, const std::vector<int64_t>& axes, int rank);

// In loop IR: the extents that fold, and the index of an element from that of the result and the folding counters.
struct FoldedBox {
  std::vector<Dim> extents;
  AxisMask folded;
  bool keep;

  using Body = std::function<codegen::Scalar(const codegen::Index& r)>;  // an element, by its folding counters

  FoldedBox(const Shape& shape, AxisMask folded, bool keep);
  codegen::Scalar fold(codegen::LowerContext& c, codegen::Reduce kind, const Body& body) const;
  codegen::Index at(const codegen::Index& result, const codegen::Index& r) const;
  // The number of elements, as a scalar of a's type.
  codegen::Scalar count(codegen::LowerContext& c, codegen::Scalar a) const;
};

// Along the one attribute `axis`; nothing for an unknown rank and for scalars.
std::optional<FoldedBox> box_along_axis(const codegen::LowerContext& c);

}  // namespace trine
