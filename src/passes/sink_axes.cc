// Transposes past operators that name axes: an axis of transpose(x, p) is axis p[axis] of x.
#include <algorithm>

#include "passes/sink.h"

namespace trine {
namespace {

// Nothing when it is out of range.
std::optional<int64_t> wrapped(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) return std::nullopt;
  return axis < 0 ? axis + n : axis;
}

std::optional<int64_t> moved(int64_t axis, const Perm& p) {
  const auto at = wrapped(axis, p.size());
  return at ? std::optional(p[static_cast<size_t>(*at)]) : std::nullopt;
}

// All inputs of n under the axes of x, where input `i` is transpose(x, p): other transposes are undone, the rest is
// transposed back. Nothing when a rank is unknown.
std::optional<std::vector<ValueId>> undone(Rewriter& r, int n, const Perm& p) {
  std::vector<ValueId> inputs;
  for (ValueId v : r.node(n).inputs) {
    if (v == kNoValue || r.rank(v) != static_cast<int>(p.size())) return std::nullopt;
    inputs.push_back(v);
  }
  for (ValueId& v : inputs) v = add_transpose(r, v, inverse(p));
  return inputs;
}

// The most frequent permutation among the inputs.
Perm common_perm(const Rewriter& r, int n) {
  Perm best;
  long most = 0;
  const auto& inputs = r.node(n).inputs;
  for (ValueId v : inputs) {
    const Perm p = perm_of_value(r, v);
    const long count = std::count_if(inputs.begin(), inputs.end(), [&](ValueId w) { return perm_of_value(r, w) == p; });
    if (!p.empty() && count > most) {
      most = count;
      best = p;
    }
  }
  return best;
}

// Inputs that would have to be transposed at run time.
long newly_transposed(const Rewriter& r, int n, const Perm& p) {
  const auto& inputs = r.node(n).inputs;
  return std::count_if(inputs.begin(), inputs.end(),
                       [&](ValueId v) { return !r.is_constant(v) && perm_of_value(r, v) != p; });
}

}  // namespace

bool sink_through_concat(Rewriter& r, int n) {
  if (!r.is(n, "concat")) return false;
  const Perm p = common_perm(r, n);
  const auto axis = moved(r.node(n).attrs.integer("axis"), p);
  const auto total = static_cast<long>(r.node(n).inputs.size());
  if (!axis || 2 * newly_transposed(r, n, p) > total) return false;
  auto inputs = undone(r, n, p);
  if (!inputs) return false;
  Attrs attrs = r.node(n).attrs;
  attrs.set("axis", *axis);
  become_transpose(r, n, r.add("concat", *inputs, std::move(attrs), {n}), p);
  return true;
}

bool sink_through_split(Rewriter& r, int n) {
  if (!r.is(n, "split")) return false;
  const Perm p = perm_of_value(r, r.input(n, 0));
  const auto axis = moved(r.node(n).attrs.integer("axis"), p);
  if (p.empty() || !axis) return false;
  std::vector<ValueId> inputs = r.node(n).inputs;
  inputs[0] = r.input(r.maker(inputs[0]), 0);
  Attrs attrs = r.node(n).attrs, turn;
  attrs.set("axis", *axis);
  turn.set("perm", p);
  const std::vector<ValueId> outputs = r.node(n).outputs;
  const ValueId first = r.add("split", std::move(inputs), std::move(attrs), {n}, static_cast<int>(outputs.size()));
  const std::vector<ValueId> pieces = r.node(r.maker(first)).outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != kNoValue) r.make(outputs[i], "transpose", {pieces[i]}, turn);
  return true;
}

bool sink_through_axis(Rewriter& r, int n) {
  if (!r.is(n, "softmax") && !r.is(n, "log_softmax") && !r.is(n, "hardmax")) return false;
  const Perm p = perm_of_value(r, r.input(n, 0));
  const auto axis = moved(r.node(n).attrs.integer("axis", -1), p);
  if (p.empty() || !axis || r.node(n).inputs.size() != 1) return false;
  Attrs attrs = r.node(n).attrs;
  attrs.set("axis", *axis);
  const ValueId y = r.add(r.node(n).op->name, {r.input(r.maker(r.input(n, 0)), 0)}, std::move(attrs), {n});
  become_transpose(r, n, y, p);
  return true;
}

namespace {

std::optional<std::vector<int64_t>> moved_axes(const std::vector<int64_t>& axes, const Perm& p) {
  std::vector<int64_t> out;
  for (int64_t a : axes) {
    const auto at = moved(a, p);
    if (!at) return std::nullopt;
    out.push_back(*at);
  }
  return out;
}

// Axes of slice or pad: given as constant, or the first `count`.
std::optional<std::vector<int64_t>> axes_of(const Rewriter& r, int n, int input, std::optional<int64_t> count) {
  if (r.input(n, input) != kNoValue) return r.integers(n, input);
  if (!count) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < *count; ++i) axes.push_back(i);
  return axes;
}

bool finish_axes(Rewriter& r, int n, std::vector<ValueId> inputs, size_t at, const std::vector<int64_t>& axes,
                 const Perm& p) {
  if (inputs.size() <= at) inputs.resize(at + 1, kNoValue);
  inputs[0] = r.input(r.maker(inputs[0]), 0);
  inputs[at] = r.add_constant(Tensor::vector_i64(axes));
  const ValueId y = r.add(r.node(n).op->name, std::move(inputs), r.node(n).attrs, {n});
  become_transpose(r, n, y, p);
  return true;
}

std::optional<int64_t> length_of(const Rewriter& r, ValueId v) {
  return r.rank(v) == 1 ? r.shape(v)[0].constant() : std::nullopt;
}

// resize: sizes, scales and regions of interest go by attribute `axes`, which a list for all axes can always have.
bool sink_through_resize(Rewriter& r, int n, const Perm& p) {
  if (r.input(n, 1) != kNoValue && length_of(r, r.input(n, 1)) != int64_t{0}) return false;
  Attrs attrs = r.node(n).attrs;
  std::vector<int64_t> axes = attrs.integers("axes");
  if (axes.empty())
    for (size_t i = 0; i < p.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  const auto there = moved_axes(axes, p);
  if (!there) return false;
  // Axes in ascending order, and a list of all of them left out, is the form that kernels look for.
  std::vector<int64_t> order(there->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return (*there)[static_cast<size_t>(a)] < (*there)[static_cast<size_t>(b)]; });
  std::vector<ValueId> inputs = r.node(n).inputs;
  Attrs gather;
  gather.set("axis", int64_t{0});
  for (size_t i = 2; i < inputs.size(); ++i)
    if (inputs[i] != kNoValue && !is_identity(order) && length_of(r, inputs[i]) != int64_t{0})
      inputs[i] = r.add("gather", {inputs[i], r.add_constant(Tensor::vector_i64(order))}, gather);
  std::vector<int64_t> sorted = *there;
  std::sort(sorted.begin(), sorted.end());
  attrs.erase("axes");
  if (sorted.size() != p.size()) attrs.set("axes", sorted);
  inputs[0] = r.input(r.maker(inputs[0]), 0);
  const ValueId y = r.add("resize", std::move(inputs), std::move(attrs), {n});
  become_transpose(r, n, y, p);
  return true;
}

}  // namespace

bool sink_through_axes(Rewriter& r, int n) {
  const Perm p = r.input(n, 0) == kNoValue ? Perm{} : perm_of_value(r, r.input(n, 0));
  if (p.empty()) return false;
  if (r.is(n, "resize")) return sink_through_resize(r, n, p);
  const bool slice = r.is(n, "slice");
  if (!slice && !r.is(n, "pad")) return false;
  auto count = length_of(r, r.input(n, 1));
  if (count && !slice) count = *count / 2;  // pads hold begins, then ends
  const auto axes = axes_of(r, n, 3, count);
  const auto there = axes ? moved_axes(*axes, p) : std::nullopt;
  return there && finish_axes(r, n, r.node(n).inputs, 3, *there, p);
}

bool sink_through_reduction(Rewriter& r, int n) {
  if (!r.node(n).op->name.starts_with("reduce_")) return false;
  const Perm p = perm_of_value(r, r.input(n, 0));
  const auto axes = r.integers(n, 1);
  const auto there = axes && !axes->empty() ? moved_axes(*axes, p) : std::nullopt;
  if (p.empty() || !there) return false;
  Perm left = p;
  if (r.node(n).attrs.integer("keepdims", 1) == 0) {  // of the axes that stay: renumbered without the folded ones
    std::erase_if(left, [&](int64_t a) { return std::find(there->begin(), there->end(), a) != there->end(); });
    for (int64_t& a : left) a -= std::count_if(there->begin(), there->end(), [&](int64_t f) { return f < a; });
  }
  const ValueId x = r.input(r.maker(r.input(n, 0)), 0), list = r.add_constant(Tensor::vector_i64(*there));
  const ValueId y = r.add(r.node(n).op->name, {x, list}, r.node(n).attrs, {n});
  if (!is_identity(left)) become_transpose(r, n, y, left);
  else r.define(r.output(n), y);
  return true;
}

// --- Elementwise operators

namespace {

enum class Kind : uint8_t { turned, scalar, constant, small, other };

// Input v of an elementwise node whose output has p.size() axes.
Kind kind_of(const Rewriter& r, ValueId v, const Perm& p) {
  if (perm_of_value(r, v) == p) return Kind::turned;
  const auto& dims = r.shape(v).dims();
  if (std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d == Dim(1); })) return Kind::scalar;
  if (r.is_constant(v)) return Kind::constant;
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return d == Dim(1); }) ? Kind::small : Kind::other;
}

// v under the axes of x, with axes of size 1 put in front first where it has fewer.
ValueId turned_back(Rewriter& r, ValueId v, const Perm& p) {
  const int rank = static_cast<int>(p.size()), own = r.rank(v);
  if (own < rank) {
    std::vector<std::string> dims(static_cast<size_t>(rank - own), "1");
    for (int i = 0; i < own; ++i) dims.push_back("a" + std::to_string(i));
    Attrs attrs;
    attrs.set("dims", std::move(dims));
    v = r.add("reshape_to", {v}, std::move(attrs));
  }
  return add_transpose(r, v, inverse(p));
}

}  // namespace

bool sink_through_elementwise(Rewriter& r, int n) {
  const Node& node = r.node(n);
  if (!node.op->elementwise || node.outputs.size() != 1 || node.attrs.has("axis") || !node.bodies.empty()) return false;
  const Perm p = common_perm(r, n);
  if (p.empty() || r.rank(r.output(n)) != static_cast<int>(p.size())) return false;
  int turned = 0, cost = 0;
  for (ValueId v : node.inputs) {
    if (v == kNoValue) continue;
    if (r.rank(v) < 0) return false;
    const Kind kind = kind_of(r, v, p);
    turned += kind == Kind::turned;
    cost += kind == Kind::other ? 2 : kind == Kind::small;
  }
  if (cost >= 2 * turned) return false;
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& v : inputs) {
    if (v == kNoValue) continue;
    const Kind kind = kind_of(r, v, p);
    if (kind == Kind::turned) v = r.input(r.maker(v), 0);
    else if (kind != Kind::scalar) v = turned_back(r, v, p);
  }
  const ValueId y = r.add(r.node(n).op->name, std::move(inputs), r.node(n).attrs, {n});
  become_transpose(r, n, y, p);
  return true;
}

}  // namespace trine
