#include "passes/halves_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trine {
namespace {

constexpr double kLargestF16 = 65504, kSmallestNormalF16 = 0x1p-14;

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return node.is(name); });
}

// Only the first `count` inputs are data.
struct TypedOp {
  std::string_view name;
  int count;
};
constexpr TypedOp kTyped[] = {{"sdpa", 3},         {"conv_transpose", 2},      {"max_pool", 1},
                              {"average_pool", 1}, {"global_average_pool", 1}, {"global_max_pool", 1},
                              {"resize", 1}};
constexpr std::string_view kMoves[] = {
    "transpose", "concat",    "split", "slice",    "gather",     "expand", "expand_to",      "reshape",       "flatten",
    "squeeze",   "unsqueeze", "tile",  "identity", "reshape_to", "pad",    "depth_to_space", "space_to_depth"};

const TypedOp* find_typed(const Node& node) {
  for (const TypedOp& t : kTyped)
    if (node.is(t.name)) return &t;
  return nullptr;
}

bool is_fold(const Node& node) {
  return node.op->name.starts_with("reduce_") ||
         is_one_of(node, {"softmax", "log_softmax", "layer_normalization", "rms_normalization"});
}

bool has_loop(const Rewriter& r, int n) {
  const Node& node = r.node(n);
  if (node.is("fused")) return true;
  if (node.is("cast") || !node.op->lower || node.op->view || node.op->impure || !node.bodies.empty()) return false;
  if (std::count(node.outputs.begin(), node.outputs.end(), kNoValue) + 1 != static_cast<long>(node.outputs.size()) ||
      node.outputs[0] == kNoValue)
    return false;
  return node.op->elementwise || is_fold(node);
}

// Sums over many elements and what grows like a power of its input leave the range of f16 first.
bool grows(const Node& node) {
  const bool square = node.is("mul") && node.inputs[0] == node.inputs[1];
  return square || is_one_of(node, {"exp", "pow", "reciprocal", "reduce_sum", "reduce_sum_square", "reduce_prod",
                                    "reduce_l1", "reduce_l2"});
}

double largest(const Tensor& t) {
  double most = 0;
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double x = std::fabs(static_cast<double>(t.as<float>()[i]));
    if (std::isfinite(x)) most = std::max(most, x);
  }
  return most;
}

bool exceeds(const Tensor& t) { return t.defined() && t.dtype() == DType::f32 && largest(t) > kLargestF16; }

}  // namespace

HalfRole half_role(const Rewriter& r, int n) {
  const Node& node = r.node(n);
  if (!node.op) return HalfRole::none;
  if (node.is("conv") || node.is("fused_matmul")) return HalfRole::product;
  if (node.is("matmul")) return HalfRole::typed;
  if (find_typed(node)) return node.outputs.size() == 1 ? HalfRole::typed : HalfRole::none;
  if (std::find(std::begin(kMoves), std::end(kMoves), node.op->name) != std::end(kMoves)) return HalfRole::move;
  return has_loop(r, n) ? HalfRole::loop : HalfRole::none;
}

bool may_read_half(const Rewriter& r, int n, int i) {
  switch (half_role(r, n)) {
    case HalfRole::none: return false;
    case HalfRole::product: return i != 2;
    case HalfRole::loop: return true;
    case HalfRole::move: return i == 0 || r.is(n, "concat") || (r.is(n, "pad") && i == 2);
    case HalfRole::typed: break;
  }
  const TypedOp* typed = find_typed(r.node(n));
  return i < (typed ? typed->count : 2);
}

std::string why_wide(const Tensor& constant, DType half) {
  if (half != DType::f16 || constant.dtype() != DType::f32) return "";
  const double most = largest(constant);
  if (most > kLargestF16) return fmt::format("a constant reaches {:.3g}; fp16 ends at 65504", most);
  if (most > 0 && most < kSmallestNormalF16)
    return fmt::format("a constant stays below {:.3g}; fp16 loses digits below 6.1e-05", most);
  return "";
}

std::string why_wide(const Rewriter& r, int n, size_t at, DType half) {
  const Node& node = r.node(n);
  const Node* maker = &node;
  if (node.is("fused")) {
    const Graph& body = *node.bodies[0];
    const int m = body.producers()[static_cast<size_t>(body.outputs[at])];
    if (m < 0) return "";
    maker = &body.nodes[static_cast<size_t>(m)];
    if (half == DType::f16)
      for (const Value& v : body.values)
        if (exceeds(v.constant)) return "a constant exceeds 65504, the end of fp16";
  }
  if (grows(*maker)) return fmt::format("{} may leave the range", maker->op->name);
  if (half == DType::f16)
    for (ValueId v : node.inputs)
      if (v != kNoValue && exceeds(r.constant(v))) return "a constant exceeds 65504, the end of fp16";
  return "";
}

}  // namespace trine
