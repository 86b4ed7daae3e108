// Slice: elements start, start + step, ... before end, along each named axis; negative positions count from the back.
// With a positive step start and end clamp to [0, d]; with a negative one start clamps to [0, d-1], end to [-1, d-1].
#include <algorithm>

#include "codegen/lower.h"
#include "graph/infer.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"
#include "ops/types.h"

namespace trine {
namespace {

struct Cut {
  int64_t start, count, step;
};

// All quantities fit: positions are clamped before they are subtracted, the step to what the axis can feel.
Cut cut_of(int64_t start, int64_t end, int64_t step, int64_t size) {
  step = std::clamp(step, -size - 1, size + 1);
  if (start < 0) start += size;
  if (end < 0) end += size;
  const int64_t top = step > 0 ? size : size - 1;
  start = std::min(std::max<int64_t>(start, 0), top);
  end = std::min(std::max<int64_t>(end, step > 0 ? 0 : -1), top);
  if (step > 0) return {start, end > start ? (end - start - 1) / step + 1 : 0, step};
  return {start, start > end ? (start - end - 1) / -step + 1 : 0, step};
}

// A position clamped to [0, size] for a positive step; `size` is symbolic, the position a constant or a symbolic size.
Dim clamped(const Dim& at, const Dim& size) {
  if (!at.constant()) return at == size ? size : min(at, size);
  if (at.value() >= std::numeric_limits<int32_t>::max()) return size;  // "to the end"
  return at.value() >= 0 ? min(at, size) : max(size + at, 0);
}

// Number of elements, for the symbolic cases that exporters write; nothing when the sign of something is open.
std::optional<Dim> symbolic_count(const Dim& start, const Dim& end, int64_t step, const Dim& size) {
  const bool to_end = end.constant() && end.value() >= std::numeric_limits<int32_t>::max();
  if (step > 0) {
    Dim count;
    const bool from_back = start.constant() && start.value() < 0;
    if (from_back && start.value() < -std::numeric_limits<int32_t>::max()) return std::nullopt;
    if (from_back && to_end) count = min(Dim(0) - start, size);
    else if (from_back) count = max(clamped(end, size) - clamped(start, size), 0);
    else if (start == Dim(0)) count = clamped(end, size);
    else count = max(clamped(end, size) - start, 0);
    return ceil_div(count, step);
  }
  const bool from_last =
      start.constant() && (start.value() == -1 || start.value() >= std::numeric_limits<int32_t>::max());
  const bool to_first = end.constant() && end.value() <= -std::numeric_limits<int32_t>::max();
  if (from_last && to_first) return ceil_div(size, -step);
  return std::nullopt;
}

struct SliceSpec {
  std::vector<int> axes;
  std::optional<std::vector<Dim>> starts, ends;
  std::vector<int64_t> steps;
};

// Axes and steps must be known to say anything beyond the rank.
std::optional<SliceSpec> slice_spec(InferContext& c, int rank) {
  SliceSpec spec;
  spec.starts = c.content(1);
  spec.ends = c.content(2);
  const auto count = spec.starts ? std::optional(static_cast<int64_t>(spec.starts->size()))
                     : spec.ends ? std::optional(static_cast<int64_t>(spec.ends->size()))
                                 : known_length(c, 1);
  const auto axes = c.integers(3), steps = c.integers(4);
  if ((c.has(3) && !axes) || (c.has(4) && !steps) || !count) return std::nullopt;
  if (axes) {
    spec.axes = distinct_axes(c, *axes, rank);
  } else {
    if (*count > rank) c.fail(std::to_string(*count) + " starts for " + c.input(0).text());
    for (int i = 0; i < *count; ++i) spec.axes.push_back(i);
  }
  spec.steps = steps ? *steps : std::vector<int64_t>(spec.axes.size(), 1);
  const auto n = spec.axes.size();
  if (*count != static_cast<int64_t>(n) || spec.steps.size() != n || (spec.ends && spec.ends->size() != n))
    c.fail("starts, ends, axes and steps must have equal lengths");
  for (int64_t step : spec.steps)
    if (step == 0) c.fail("a step is 0; steps must not be");
  return spec;
}

Dim sliced_size(InferContext& c, const SliceSpec& spec, size_t i, const Dim& size) {
  if (!spec.starts || !spec.ends) return size == Dim(0) ? size : c.fresh("slice");
  const Dim &start = (*spec.starts)[i], &end = (*spec.ends)[i];
  if (size.constant() && start.constant() && end.constant())
    return cut_of(start.value(), end.value(), spec.steps[i], size.value()).count;
  const auto count = symbolic_count(start, end, spec.steps[i], size);
  return count ? *count : c.fresh("slice");
}

void slice_content(InferContext& c, const SliceSpec& spec) {
  const auto content = c.content(0);
  const auto starts = c.integers(1), ends = c.integers(2);
  if (!content || !starts || !ends || spec.axes.size() != 1) return;
  const Cut cut = cut_of((*starts)[0], (*ends)[0], spec.steps[0], static_cast<int64_t>(content->size()));
  std::vector<Dim> part;
  for (int64_t i = 0; i < cut.count; ++i) part.push_back((*content)[static_cast<size_t>(cut.start + i * cut.step)]);
  c.set_content(0, std::move(part));
}

void infer_slice(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  const auto spec = slice_spec(c, x.rank());
  if (!spec) return c.set(0, c.dtype(0), c.fresh_shape(x.rank()));
  Shape y = x;
  for (size_t i = 0; i < spec->axes.size(); ++i) y[spec->axes[i]] = sliced_size(c, *spec, i, x[spec->axes[i]]);
  c.set(0, c.dtype(0), y);
  if (x.rank() == 1) slice_content(c, *spec);
}

void slice_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto starts = c.tensor(1).i64_values(), ends = c.tensor(2).i64_values();
  const auto given = c.has(3) ? std::optional(c.tensor(3).i64_values()) : std::nullopt;
  if (!given && static_cast<int>(starts.size()) > x.rank())
    c.fail(std::to_string(starts.size()) + " starts for " + x.type_text());
  std::vector<int> axes = axes_or_all(c, given, x.rank());
  if (!given) axes.resize(starts.size());
  const auto steps = c.has(4) ? c.tensor(4).i64_values() : std::vector<int64_t>(axes.size(), 1);
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())
    c.fail("starts, ends, axes and steps must have equal lengths");
  View view = View::whole(x.dims());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) c.fail("a step is 0; steps must not be");
    const auto k = static_cast<size_t>(axes[i]);
    const Cut cut = cut_of(starts[i], ends[i], steps[i], x.dim(axes[i]));
    view.dims[k] = cut.count;
    if (cut.count > 0) view.offset += cut.start * view.strides[k];
    view.strides[k] *= cut.step;
  }
  c.set(0, copy_view(x, view));
}

// First element and step per axis must be constants; otherwise the slice is not lowered.
codegen::Scalar slice_lower(codegen::LowerContext& c) {
  const auto starts = list_of(c.constant(1)), axes = c.has(3) ? list_of(c.constant(3)) : std::nullopt;
  const auto steps = c.has(4) ? list_of(c.constant(4)) : std::nullopt;
  if (!starts || (c.has(3) && !axes) || (c.has(4) && !steps)) return {};
  codegen::Index at = c.index();
  const std::vector<int64_t>& first = *starts;
  for (size_t i = 0; i < first.size(); ++i) {
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    const auto k = static_cast<size_t>(axis < 0 ? axis + c.shape(0).rank() : axis);
    const Dim& size = c.shape(0)[static_cast<int>(k)];
    const int64_t step = steps ? (*steps)[i] : 1;
    Dim start;
    if (size.constant()) {
      start = cut_of(first[i], step > 0 ? std::numeric_limits<int64_t>::max() : 0, step, size.value()).start;
    } else if (step > 0) {
      start = first[i] >= 0 ? Dim(first[i]) : max(size + Dim(first[i]), 0);
    } else {
      start = first[i] >= 0 ? min(Dim(first[i]), size - 1) : max(size + Dim(first[i]), 0);
    }
    at[k] = start + Dim(step) * at[k];
  }
  return c.load(0, at);
}

const OpDef kSlice = {.name = "slice",
                      .onnx = "Slice",
                      .doc = "x[start:end:step] along each of `axes`",
                      .types = "a Tx T T T",
                      .min_inputs = 3,
                      .max_inputs = 5,
                      .infer = infer_slice,
                      .reference = slice_reference,
                      .lower = slice_lower};
const RegisterOp kRegisterSlice(kSlice);

}  // namespace
}  // namespace trine
