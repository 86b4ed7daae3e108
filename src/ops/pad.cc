// Pad: grows (or, with negative amounts, crops) the ends of axes, filling with a constant, the edge, a reflection or a
// wrapped copy. CenterCropPad: crops or zero-pads axes about their centre. Cropping comes before padding.
#include <algorithm>

#include "codegen/lower.h"
#include "graph/infer.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

enum class PadMode { constant, edge, reflect, wrap };

template <class C>
PadMode pad_mode(const C& c) {
  const std::string mode = c.attrs().string("mode", "constant");
  constexpr std::string_view kNames[] = {"constant", "edge", "reflect", "wrap"};
  for (int i = 0; i < 4; ++i)
    if (mode == kNames[i]) return static_cast<PadMode>(i);
  c.fail("mode '" + mode + "'; one of constant, edge, reflect, wrap");
}

// The value to pad with is one element of x's type.
void check_value(InferContext& c) {
  if (!c.has(2)) return;
  const bool one = !c.shape(2).has_rank() || !c.shape(2).is_static() || c.shape(2).elements() == Dim(1);
  if (!one) c.fail("constant_value is " + c.input(2).text() + "; it must be one element of x's type");
}

void infer_pad(InferContext& c) {
  pad_mode(c);
  check_value(c);
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  const auto pads = c.content(1);
  const auto axes = c.integers(3);
  if (!pads || (c.has(3) && !axes)) return c.set(0, c.dtype(0), c.fresh_shape(x.rank()));
  const auto which = axes_or_all(c, axes, x.rank());
  if (pads->size() != 2 * which.size())
    c.fail(std::to_string(pads->size()) + " pads for " + std::to_string(which.size()) + " axes; two per axis");
  Shape y = x;
  for (size_t i = 0; i < which.size(); ++i) y[which[i]] = y[which[i]] + (*pads)[i] + (*pads)[i + which.size()];
  c.set(0, c.dtype(0), y);
}

// Position in [0, n) that position i outside stands for; n > 0.
int64_t folded(PadMode mode, int64_t i, int64_t n) {
  if (mode == PadMode::edge || n == 1) return std::clamp<int64_t>(i, 0, n - 1);
  const int64_t period = mode == PadMode::wrap ? n : 2 * (n - 1);
  const int64_t at = ((i % period) + period) % period;
  return at < n ? at : period - at;
}

struct AxisPad {
  int64_t crop = 0, kept = 0, before = 0, after = 0;  // kept elements of x from `crop` on, between the two pads
};

std::vector<AxisPad> axis_pads(const EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto pads = c.tensor(1).i64_values();
  const auto axes = axes_or_all(c, c.has(3) ? std::optional(c.tensor(3).i64_values()) : std::nullopt, x.rank());
  if (pads.size() != 2 * axes.size())
    c.fail(std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes; two per axis");
  std::vector<AxisPad> result;
  for (int64_t d : x.dims()) result.push_back({0, d, 0, 0});
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisPad& p = result[static_cast<size_t>(axes[i])];
    const int64_t begin = pads[i], end = pads[i + axes.size()];
    p.crop = begin < 0 ? checked_sub(0, begin) : 0;
    p.kept = checked_sub(checked_sub(p.kept, p.crop), end < 0 ? checked_sub(0, end) : 0);
    p.before = std::max<int64_t>(begin, 0);
    p.after = std::max<int64_t>(end, 0);
    if (p.kept < 0) {  // more is cut than there is: the rest is taken from the other side's pad
      p.before += begin >= 0 ? p.kept : 0;
      p.after += begin < 0 ? p.kept : 0;
      p.kept = 0;
      if (p.before < 0 || p.after < 0)
        c.fail("pads " + std::to_string(begin) + ", " + std::to_string(end) + " cut more than " + x.type_text() +
               " has");
    }
  }
  return result;
}

Tensor pad_constant(const Tensor& x, const std::vector<AxisPad>& pads, const Dims& dims, const Tensor& value) {
  TensorBuilder y(x.dtype(), dims);
  if (value.defined()) y.fill(value);
  else y.zero();
  View to = View::whole(dims), from = View::whole(x.dims());
  for (int k = 0; k < x.rank(); ++k) {
    const AxisPad& p = pads[static_cast<size_t>(k)];
    if (p.kept == 0) return y.take();
    to = to.range(k, p.before, p.kept);
    from = from.range(k, p.crop, p.kept);
  }
  y.copy(to, x, from);
  return y.take();
}

Tensor pad_folded(const EvalContext& c, const std::vector<AxisPad>& pads, const Dims& dims, PadMode mode) {
  const Tensor& x = c.tensor(0);
  TensorBuilder y(x.dtype(), dims);
  const int64_t count = element_count(dims);
  if (count == 0) return y.take();
  const auto strides = dense_strides(x.dims());
  std::vector<std::vector<int64_t>> offsets;  // per axis, per output coordinate
  for (int k = 0; k < x.rank(); ++k) {
    const AxisPad& p = pads[static_cast<size_t>(k)];
    if (p.kept == 0) c.fail("axis " + std::to_string(k) + " is empty; only mode constant can pad it");
    std::vector<int64_t> table;
    for (int64_t i = 0; i < dims[static_cast<size_t>(k)]; ++i)
      table.push_back((p.crop + folded(mode, i - p.before, p.kept)) * strides[static_cast<size_t>(k)]);
    offsets.push_back(std::move(table));
  }
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i, next_index(index, dims)) {
    int64_t from = 0;
    for (size_t k = 0; k < dims.size(); ++k) from += offsets[k][static_cast<size_t>(index[k])];
    y.copy(i, x, from);
  }
  return y.take();
}

void pad_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const PadMode mode = pad_mode(c);
  const auto pads = axis_pads(c);
  Dims dims;
  for (const AxisPad& p : pads) dims.push_back(checked_add(checked_add(p.before, p.kept), p.after));
  if (mode != PadMode::constant) return c.set(0, pad_folded(c, pads, dims, mode));
  Tensor value = c.has(2) ? c.tensor(2) : Tensor();
  if (value.defined() && value.elements() != 1)
    c.fail("constant_value is " + value.type_text() + "; it must be one element of x's type");
  c.set(0, pad_constant(x, pads, dims, value));
}

// Guarded load (constant) or clamped index (edge); pads and axes must be constants, else the node is not lowered.
codegen::Scalar pad_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const std::string mode = c.attrs().string("mode", "constant");
  const auto pads = list_of(c.constant(1)), axes = c.has(3) ? list_of(c.constant(3)) : std::nullopt;
  if (!pads || (c.has(3) && !axes) || (mode != "constant" && mode != "edge")) return {};
  const std::vector<int64_t>& amounts = *pads;
  const size_t count = amounts.size() / 2;
  const int rank = c.shape(0).rank();
  codegen::Index at = c.index();
  codegen::Scalar inside;
  const auto require = [&](codegen::Scalar condition) {
    inside = inside.id < 0 ? condition : c.apply(ScalarOp::logical_and, inside, condition);
  };
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    const auto k = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    const int64_t begin = amounts[i], end = amounts[i + count];
    const Dim& size = c.shape(0)[static_cast<int>(k)];
    at[k] = at[k] - begin;
    if (mode == "edge") {
      if (begin < 0 || end < 0) return {};
      at[k] = min(max(at[k], 0), size - 1);
      continue;
    }
    const auto here = c.index_value(at[k]);
    if (begin > 0) require(c.apply(ScalarOp::less_equal, c.index_value(0), here));
    if (end > 0) require(c.apply(ScalarOp::less, here, c.index_value(size)));
  }
  if (inside.id < 0) return c.load(0, at);
  const auto fallback = c.has(2) ? c.load(2, codegen::Index(static_cast<size_t>(c.shape(2).rank()), Dim(0)))
                                 : c.constant(c.output_type().dtype, 0);
  return c.load_if(inside, 0, at, fallback);
}

const OpDef kPad = {.name = "pad",
                    .onnx = "Pad",
                    .doc = "x with `pads` elements added before and after each axis",
                    .types = "T x T x",
                    .min_inputs = 2,
                    .max_inputs = 4,
                    .infer = infer_pad,
                    .reference = pad_reference,
                    .lower = pad_lower};
const RegisterOp kRegisterPad(kPad);

void infer_center_crop_pad(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  const auto axes = axes_or_all(c, optional_integers(c.attrs(), "axes"), x.rank());
  const auto sizes = c.content(1);
  if (sizes && sizes->size() != axes.size())
    c.fail(std::to_string(sizes->size()) + " sizes for " + std::to_string(axes.size()) + " axes; one per axis");
  Shape y = x;
  for (size_t i = 0; i < axes.size(); ++i) y[axes[i]] = sizes ? (*sizes)[i] : c.fresh("crop");
  c.set(0, c.dtype(0), y);
}

void center_crop_pad_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto axes = axes_or_all(c, optional_integers(c.attrs(), "axes"), x.rank());
  const auto sizes = c.tensor(1).i64_values();
  if (sizes.size() != axes.size())
    c.fail(std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes; one per axis");
  std::vector<AxisPad> pads;
  for (int64_t d : x.dims()) pads.push_back({0, d, 0, 0});
  Dims dims = x.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t have = x.dim(axes[i]), want = sizes[i];
    if (want < 0) c.fail("shape holds " + std::to_string(want) + "; sizes must be >= 0");
    dims[static_cast<size_t>(axes[i])] = want;
    AxisPad& p = pads[static_cast<size_t>(axes[i])];
    p.kept = std::min(have, want);
    if (want < have) p.crop = (have - want) / 2;
    if (want > have) p.before = (want - have) / 2;
  }
  c.set(0, pad_constant(x, pads, dims, Tensor()));
}

const OpDef kCenterCropPad = {.name = "center_crop_pad",
                              .onnx = "CenterCropPad",
                              .doc = "x cropped or zero-padded about the centre to the given sizes",
                              .types = "a x",
                              .min_inputs = 2,
                              .max_inputs = 2,
                              .infer = infer_center_crop_pad,
                              .reference = center_crop_pad_reference};
const RegisterOp kRegisterCenterCropPad(kCenterCropPad);

}  // namespace
}  // namespace trine
