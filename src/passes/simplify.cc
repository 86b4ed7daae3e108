// Nodes that do nothing, and chains of two that one can do. Only rewrites that keep every value: x + -0 and x - 0 are
// x; x + 0 is 0 where x is -0, so it is x only where the sign of a zero makes no difference to any reader.
#include <algorithm>
#include <cmath>
#include <span>

#include "passes/match.h"
#include "passes/passes.h"
#include "passes/permute.h"

namespace trine {
namespace {

ValueId first_input(const Rewriter& r, int n) { return r.input(n, 0); }

bool same_type(const Rewriter& r, ValueId a, ValueId b) {
  return a != kNoValue && b != kNoValue && r.rank(a) >= 0 && r.type(a) == r.type(b);
}

// What the node's first output is equal to; kNoValue when it does something.
using Rule = ValueId (*)(const Rewriter& r, int n);

ValueId same_as_input_type(const Rewriter& r, int n) {
  return same_type(r, r.input(n, 0), r.output(n)) ? r.input(n, 0) : kNoValue;
}

ValueId dropout(const Rewriter& r, int n) {
  const ValueId training = r.input(n, 2);
  const bool off = training == kNoValue || r.number(training) == 0.0;
  const auto& outputs = r.node(n).outputs;
  const bool mask =
      outputs.size() > 1 && outputs[1] != kNoValue && (r.is_output(outputs[1]) || !r.readers(outputs[1]).empty());
  return off && !mask ? r.input(n, 0) : kNoValue;
}

ValueId identity_transpose(const Rewriter& r, int n) {
  const Perm p = perm_of(r, n);
  const int rank = r.rank(r.input(n, 0));
  return rank == 0 || rank == 1 || (!p.empty() && is_identity(p)) ? r.input(n, 0) : kNoValue;
}

ValueId single_input(const Rewriter& r, int n) { return r.node(n).inputs.size() == 1 ? r.input(n, 0) : kNoValue; }

ValueId single_piece(const Rewriter& r, int n) {
  return r.node(n).outputs.size() == 1 ? same_as_input_type(r, n) : kNoValue;
}

// What the node would refuse at run time, it must get to see.
ValueId whole_expand(const Rewriter& r, int n) { return expands_for_sure(r, n) ? same_as_input_type(r, n) : kNoValue; }

// Steps must be 1: a reversed axis has the same size.
ValueId whole_slice(const Rewriter& r, int n) {
  if (r.input(n, 4) != kNoValue) {
    const auto steps = r.integers(n, 4);
    if (!steps || std::any_of(steps->begin(), steps->end(), [](int64_t s) { return s != 1; })) return kNoValue;
  }
  return same_as_input_type(r, n);
}

// Pads must be 0: [1, -1] shifts and keeps the size.
ValueId empty_pad(const Rewriter& r, int n) {
  const auto pads = r.integers(n, 1);
  const bool none = pads && std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p == 0; });
  return none ? r.input(n, 0) : kNoValue;
}

// x op neutral -> x, where the result keeps x's shape.
ValueId without(const Rewriter& r, int n, double neutral, bool either_side) {
  for (int at : {1, 0}) {
    const ValueId x = r.input(n, 1 - at), c = r.input(n, at);
    if ((at == 0 && !either_side) || !r.is_constant(c)) continue;
    const bool real = is_float(r.dtype(c));
    if (all_equal(r.constant(c), !real && neutral == 0 ? 0.0 : neutral) && same_type(r, x, r.output(n))) return x;
  }
  return kNoValue;
}

// No reader of v can tell -0 from 0, but for the sign of a zero that it gives itself to such readers.
bool sign_of_zero_is_lost(const Rewriter& r, ValueId v, int depth = 0) {
  constexpr std::string_view kSums[] = {"matmul",
                                        "gemm",
                                        "fused_matmul",
                                        "conv",
                                        "conv_transpose",
                                        "softmax",
                                        "exp",
                                        "sigmoid",
                                        "layer_normalization",
                                        "rms_normalization",
                                        "reduce_sum",
                                        "reduce_mean",
                                        "sdpa",
                                        "shape",
                                        "size"};
  constexpr std::string_view kPasses[] = {"identity",  "transpose", "reshape", "reshape_to", "squeeze",
                                          "unsqueeze", "flatten",   "mul",     "add",        "sub",
                                          "relu",      "slice",     "split",   "gather",     "concat"};
  const auto is_one_of = [&](int n, std::span<const std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return r.is(n, name); });
  };
  if (r.is_output(v) || depth == 6) return false;
  for (int n : r.readers(v)) {
    if (is_one_of(n, kSums)) continue;
    if (!is_one_of(n, kPasses)) return false;
    for (ValueId y : r.node(n).outputs)
      if (y != kNoValue && !sign_of_zero_is_lost(r, y, depth + 1)) return false;
  }
  return true;
}

ValueId add_nothing(const Rewriter& r, int n) {
  const ValueId x = without(r, n, -0.0, true);
  return x == kNoValue && sign_of_zero_is_lost(r, r.output(n)) ? without(r, n, 0.0, true) : x;
}
ValueId subtract_nothing(const Rewriter& r, int n) { return without(r, n, 0.0, false); }
ValueId times_one(const Rewriter& r, int n) { return without(r, n, 1.0, true); }
ValueId over_one(const Rewriter& r, int n) { return without(r, n, 1.0, false); }

ValueId constant_choice(const Rewriter& r, int n) {
  const auto condition = r.number(r.input(n, 0));
  if (!condition) return kNoValue;
  const ValueId chosen = r.input(n, *condition != 0 ? 1 : 2);
  return same_type(r, chosen, r.output(n)) ? chosen : kNoValue;
}

ValueId unbounded_clip(const Rewriter& r, int n) {
  return r.input(n, 1) == kNoValue && r.input(n, 2) == kNoValue ? r.input(n, 0) : kNoValue;
}

ValueId repeated_relu(const Rewriter& r, int n) {
  return r.made_by(r.input(n, 0), "relu") >= 0 ? r.input(n, 0) : kNoValue;
}

struct RuleRow {
  std::string_view op;
  Rule equal_to;
};

constexpr RuleRow kRules[] = {
    {"identity", first_input},
    {"dropout", dropout},
    {"cast", same_as_input_type},
    {"cast_like", same_as_input_type},
    {"reshape", same_as_input_type},
    {"flatten", same_as_input_type},
    {"squeeze", same_as_input_type},
    {"unsqueeze", same_as_input_type},
    {"reshape_to", same_as_input_type},
    {"expand", whole_expand},
    {"expand_to", same_as_input_type},
    {"transpose", identity_transpose},
    {"concat", single_input},
    {"split", single_piece},
    {"slice", whole_slice},
    {"pad", empty_pad},
    {"add", add_nothing},
    {"sub", subtract_nothing},
    {"mul", times_one},
    {"div", over_one},
    {"where", constant_choice},
    {"clip", unbounded_clip},
    {"max", single_input},
    {"min", single_input},
    {"sum", single_input},
    {"mean", single_input},
    {"relu", repeated_relu},
};

// transpose(transpose(x, p), q) = transpose(x, p[q])
bool compose_transposes(Rewriter& r, int n) {
  const int inner = r.is(n, "transpose") ? r.made_by(r.input(n, 0), "transpose") : -1;
  if (inner < 0) return false;
  const Perm p = perm_of(r, inner), q = perm_of(r, n);
  if (p.empty() || p.size() != q.size()) return false;
  Perm perm = compose(p, q);
  Attrs attrs;
  attrs.set("perm", std::move(perm));
  r.rewrite(n, "transpose", {r.input(inner, 0)}, std::move(attrs), {inner});
  return true;
}

// Other rules count on `perm` being there and on its axes being counted from the front.
bool spell_out_perm(Rewriter& r, int n) {
  const int rank = r.is(n, "transpose") ? r.rank(r.input(n, 0)) : -1;
  if (rank < 2) return false;
  const auto given = r.node(n).attrs.integers("perm");
  auto perm = given;
  if (given.empty())
    for (int i = rank; i-- > 0;) perm.push_back(i);
  for (int64_t& axis : perm) axis = axis < 0 ? axis + rank : axis;
  if (perm == given) return false;
  r.set_attr(n, "perm", std::move(perm));
  return true;
}

// clip(relu(x), low, high) = min(max(max(x, 0), low), high) = clip(x, max(low, 0), high), for constant bounds.
bool merge_relu_into_clip(Rewriter& r, int n) {
  const int relu = r.is(n, "clip") ? r.made_by(r.input(n, 0), "relu") : -1;
  if (relu < 0) return false;
  const ValueId low = r.input(n, 1), high = r.input(n, 2);
  const auto bound = low == kNoValue ? std::optional(0.0) : r.number(low);
  if (!bound || std::isnan(*bound)) return false;
  const ValueId at_least =
      low != kNoValue && *bound >= 0 ? low : r.add_constant(Tensor::from_f64(r.dtype(r.input(n, 0)), {}, {0.0}));
  r.rewrite(n, "clip", {r.input(relu, 0), at_least, high}, {}, {relu});
  return true;
}

// Parts of a concat that hold nothing.
bool drop_empty_parts(Rewriter& r, int n) {
  if (!r.is(n, "concat")) return false;
  const int rank = r.rank(r.output(n));
  if (rank <= 0) return false;
  int64_t axis = r.node(n).attrs.integer("axis");
  if (axis < 0) axis += rank;
  std::vector<ValueId> parts;
  for (ValueId v : r.node(n).inputs)
    if (r.rank(v) != rank || r.shape(v)[static_cast<int>(axis)] != Dim(0)) parts.push_back(v);
  if (parts.empty() || parts.size() == r.node(n).inputs.size()) return false;
  r.set_inputs(n, std::move(parts));
  return true;
}

using Rewrite = bool (*)(Rewriter& r, int n);
constexpr Rewrite kRewrites[] = {spell_out_perm, compose_transposes, merge_relu_into_clip, drop_empty_parts};

}  // namespace

bool simplify(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) {
    if (!r.node(n).op) continue;
    for (Rewrite rewrite : kRewrites) rewrite(r, n);
    for (const RuleRow& rule : kRules) {
      if (!r.is(n, rule.op)) continue;
      const ValueId same = rule.equal_to(r, n);
      if (same != kNoValue) r.replace(r.output(n), same);
    }
  }
  return r.finish();
}

}  // namespace trine
