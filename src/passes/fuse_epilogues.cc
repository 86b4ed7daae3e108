// What follows a convolution or matrix product element by element is done before its sums are stored:
//
//   y = activation(sum + bias + residual)    attribute residual = 1
//   y = activation(sum + bias) + residual    attribute residual = 2
//
// An activation behind reshapes and transposes goes before them (YOLO's heads).
//
// The follower takes the contraction's place, so that a residual made between the two stays before its reader. Only
// where nobody else wants the value in between.
#include <cmath>

#include "ops/activation.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

constexpr size_t kMostMoves = 8;  // between a contraction and its activation

bool takes_epilogue(const Rewriter& r, int n) {
  return (r.is(n, "conv") || r.is(n, "fused_matmul") || r.is(n, "conv_transpose")) && is_float(r.dtype(r.output(n)));
}

bool takes_residual(const Rewriter& r, int n) { return !r.is(n, "conv_transpose"); }

// The activation that node n applies to its input, if a kernel's epilogue knows it.
std::optional<Activation> activation_at(const Rewriter& r, int n) {
  using Kind = Activation::Kind;
  const Attrs& a = r.node(n).attrs;
  if (r.is(n, "relu")) return Activation{Kind::relu};
  if (r.is(n, "sigmoid")) return Activation{Kind::sigmoid};
  if (r.is(n, "tanh")) return Activation{Kind::tanh};
  if (r.is(n, "hard_swish")) return Activation{Kind::hard_swish};
  if (r.is(n, "swish") && a.real("alpha", 1) == 1) return Activation{Kind::silu, 1};
  if (r.is(n, "gelu")) return Activation{a.string("approximate", "none") == "tanh" ? Kind::gelu_tanh : Kind::gelu};
  if (r.is(n, "leaky_relu")) return Activation{Kind::leaky_relu, a.real("alpha", 0.01f)};
  if (r.is(n, "hard_sigmoid")) return Activation{Kind::hard_sigmoid, a.real("alpha", 0.2f), a.real("beta", 0.5)};
  if (!r.is(n, "clip")) return std::nullopt;
  const auto bound = [&](int i, double none) {
    return r.input(n, i) == kNoValue ? std::optional(none) : r.number(r.input(n, i));
  };
  const auto low = bound(1, -HUGE_VAL), high = bound(2, HUGE_VAL);
  if (!low || !high || std::isnan(*low) || std::isnan(*high)) return std::nullopt;
  return Activation{Kind::clip, *low, *high};
}

bool fuse_activation(Rewriter& r, int n, int follower) {
  const Attrs& own = r.node(n).attrs;
  if (own.has("activation") || own.integer("residual", 1) == 2) return false;
  const auto f = activation_at(r, follower);
  if (!f || r.input(follower, 0) != r.output(n)) return false;
  Attrs attrs = own;
  set_activation(attrs, *f);
  r.rewrite(follower, r.node(n).op->name, r.node(n).inputs, std::move(attrs), {n});
  return true;
}

bool only_moves(const Rewriter& r, int n) {
  for (std::string_view op : {"reshape", "reshape_to", "transpose", "squeeze", "unsqueeze", "flatten"})
    if (r.is(n, op)) return true;
  return false;
}

// f(move(sum)) = move(f(sum)). What comes of it is new: no value keeps the name of one that meant something else.
bool fuse_activation_behind_moves(Rewriter& r, int n, int follower) {
  if (r.node(n).attrs.has("activation") || r.input(n, 3) != kNoValue) return false;
  std::vector<int> moves;
  while (only_moves(r, follower) && moves.size() < kMostMoves) {
    const ValueId y = r.output(follower);
    if (!r.used_once(y) || r.input(follower, 0) != (moves.empty() ? r.output(n) : r.output(moves.back()))) return false;
    moves.push_back(follower);
    follower = r.readers(y)[0];
  }
  const auto f = moves.empty() ? std::nullopt : activation_at(r, follower);
  if (!f || r.input(follower, 0) != r.output(moves.back())) return false;
  Attrs attrs = r.node(n).attrs;
  set_activation(attrs, *f);
  ValueId y = r.add(r.node(n).op->name, r.node(n).inputs, std::move(attrs), {follower, n});
  for (const int m : moves) {
    std::vector<ValueId> inputs = r.node(m).inputs;
    inputs[0] = y;
    if (m != moves.back()) y = r.add(r.node(m).op->name, std::move(inputs), r.node(m).attrs, {follower, m});
    else r.rewrite(follower, r.node(m).op->name, std::move(inputs), r.node(m).attrs, {m});
  }
  return true;
}

bool fuse_residual(Rewriter& r, int n, int follower) {
  if (!r.is(follower, "add") || !takes_residual(r, n) || r.input(n, 3) != kNoValue) return false;
  const ValueId y = r.output(n), residual = r.other_input(follower, y);
  if (residual == y || r.is_constant(residual) || r.type(residual) != r.type(y) ||
      r.type(r.output(follower)) != r.type(y))
    return false;
  Attrs attrs = r.node(n).attrs;
  attrs.set("residual", int64_t{attrs.has("activation") ? 2 : 1});
  std::vector<ValueId> inputs = r.node(n).inputs;
  inputs.resize(4, kNoValue);
  inputs[3] = residual;
  r.rewrite(follower, r.node(n).op->name, std::move(inputs), std::move(attrs), {n});
  return true;
}

// A sum of two contractions (a ResNet block with a projection): the one with more inputs to add waits for the other,
// which is then its residual. Taking the later one keeps the order of work.
bool is_later_contraction(const Rewriter& r, int n, int follower) {
  const int other = r.maker(r.other_input(follower, r.output(n)));
  return other > n && takes_epilogue(r, other) && takes_residual(r, other) && r.input(other, 3) == kNoValue &&
         r.used_once(r.output(other));
}

bool fuse(Rewriter& r, int n) {
  if (!takes_epilogue(r, n) || !r.used_once(r.output(n))) return false;
  const int follower = r.readers(r.output(n))[0];
  if (only_moves(r, follower)) return fuse_activation_behind_moves(r, n, follower);
  if (r.type(r.output(follower)) != r.type(r.output(n))) return false;
  if (fuse_activation(r, n, follower)) return true;
  if (r.is(follower, "add") && is_later_contraction(r, n, follower)) return false;
  return fuse_residual(r, n, follower);
}

}  // namespace

bool fuse_epilogues(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n)  // the follower becomes the contraction: the loop meets it again
    if (r.node(n).op) fuse(r, n);
  return r.finish();
}

}  // namespace trine
