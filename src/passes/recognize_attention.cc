// Attention as exporters spell it:
//
//   softmax(scale * q k^T + mask) v    -> sdpa {scale}, q, k, v of [B,H,S,D]
//
// The scale may stand on the scores, on q, on k or on both; k^T may be a transpose of its own or part of the one that
// splits heads; the mask is added or chosen by `where`. Where q, k, v and the result are [B,S,H*D] matrices whose heads
// are only split and merged again, sdpa reads and writes those (layout "bshd") and the transposes are gone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/match.h"
#include "passes/passes.h"
#include "passes/permute.h"

namespace trine {
namespace {

const Perm kSwapLast = {0, 1, 3, 2}, kSplitHeads = {0, 2, 1, 3}, kSplitHeadsSwapped = {0, 2, 3, 1};
constexpr double kHides = -1e4;  // a score put in place of a hidden one: next to any other its probability is 0

struct Attention {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue, mask = kNoValue;
  double scale = 1;
  bool k_transposed = false;   // k is [B,H,D,S]
  bool mask_hides = false;     // a boolean mask that is true where the key is hidden
  std::optional<double> fill;  // of a boolean mask: the score of a hidden key
  std::vector<int> nodes;
};

// Looks through mul and div by a number.
ValueId without_scale(const Rewriter& r, ValueId v, Attention& a) {
  while (true) {
    const int n = r.maker(v);
    const auto step = r.with_number(n);
    if (!step || r.type(step->value) != r.type(v)) return v;
    if (r.is(n, "mul")) a.scale *= step->number;
    else if (r.is(n, "div") && step->at == 1 && step->number != 0) a.scale /= step->number;
    else return v;
    a.nodes.push_back(n);
    v = step->value;
  }
}

// Sets q and k when v is scale * q k^T.
bool match_scores(const Rewriter& r, ValueId v, Attention& a) {
  Attention found = a;
  v = without_scale(r, v, found);
  const int n = r.made_by(v, "matmul");
  if (n < 0 || r.rank(v) != 4 || r.rank(r.input(n, 0)) != 4 || r.rank(r.input(n, 1)) != 4) return false;
  found.nodes.push_back(n);
  found.q = without_scale(r, r.input(n, 0), found);
  found.k = without_scale(r, r.input(n, 1), found);
  found.k_transposed = true;
  const int turn = r.made_by(found.k, "transpose");
  if (turn >= 0 && perm_of(r, turn) == kSwapLast) {
    found.k = without_scale(r, r.input(turn, 0), found);
    found.k_transposed = false;
    found.nodes.push_back(turn);
  }
  a = found;
  return true;
}

// scores + mask, where(keep, scores, -inf), where(hide, -inf, scores), or plain scores.
bool match_masked(const Rewriter& r, ValueId v, Attention& a) {
  if (match_scores(r, v, a)) return true;
  const int n = r.maker(v);
  if (r.is(n, "add"))
    for (int i : {0, 1})
      if (r.type(r.input(n, i)) == r.type(v) && match_scores(r, r.input(n, i), a)) {
        a.mask = r.input(n, 1 - i);
        a.nodes.push_back(n);
        return true;
      }
  if (r.is(n, "where"))
    for (int i : {1, 2}) {
      const auto hidden = r.number(r.input(n, 3 - i));
      if (!hidden || *hidden > kHides || r.type(r.input(n, i)) != r.type(v) || !match_scores(r, r.input(n, i), a))
        continue;
      a.mask = r.input(n, 0);
      a.mask_hides = i == 2;
      a.fill = hidden;
      a.nodes.push_back(n);
      return true;
    }
  return false;
}

std::optional<Attention> match(const Rewriter& r, int n) {
  if (!r.is(n, "matmul") || r.rank(r.output(n)) != 4 || r.rank(r.input(n, 1)) != 4) return std::nullopt;
  const int softmax = r.made_by(r.input(n, 0), "softmax");
  if (softmax < 0 || !r.used_once(r.output(softmax)) || r.rank(r.output(softmax)) != 4) return std::nullopt;
  const int64_t axis = r.node(softmax).attrs.integer("axis", -1);
  Attention a;
  if ((axis != -1 && axis != 3) || r.dtype(r.output(n)) != DType::f32) return std::nullopt;
  if (!match_masked(r, r.input(softmax, 0), a)) return std::nullopt;
  a.v = r.input(n, 1);
  a.nodes.push_back(softmax);
  return a;
}

// Batch and head dimensions of q, k and v must be the same ones: sdpa does not broadcast.
bool dims_agree(const Rewriter& r, const Attention& a) {
  for (int i : {0, 1})
    if (r.shape(a.q)[i] != r.shape(a.k)[i] || r.shape(a.q)[i] != r.shape(a.v)[i]) return false;
  const Dim& depth = r.shape(a.k)[a.k_transposed ? 2 : 3];
  const Dim& keys = r.shape(a.k)[a.k_transposed ? 3 : 2];
  return r.shape(a.q)[3] == depth && r.shape(a.v)[2] == keys;
}

// --- [B,S,H*D]

// x [B,S,H*D] of which v [B,H,S,D] (with swapped: [B,H,D,S]) is the split into heads; kNoValue when it is none.
// `from`: first feature, for one of several stacked projections.
struct Packed {
  ValueId x = kNoValue;
  int64_t from = 0, width = 0;
};

std::optional<int64_t> constant_dim(const Rewriter& r, ValueId v, int i) { return r.shape(v)[i].constant(); }

// reshape x [B,S,W] -> v whose first two dimensions are B and S
ValueId unsplit(const Rewriter& r, ValueId v) {
  const int n = r.maker(v);
  if (!r.is(n, "reshape") && !r.is(n, "reshape_to")) return kNoValue;
  const ValueId x = r.input(n, 0);
  const bool same = r.rank(x) == 3 && r.shape(x)[0] == r.shape(v)[0] && r.shape(x)[1] == r.shape(v)[1];
  return same && constant_dim(r, x, 2) ? x : kNoValue;
}

// The constant index i where v is x[i], taken by gather or by slice and reshape.
struct Picked {
  ValueId x;
  int64_t index;
};
std::optional<Picked> picked(const Rewriter& r, ValueId v) {
  int n = r.maker(v);
  if (r.is(n, "gather") && r.node(n).attrs.integer("axis") == 0) {
    const auto at = r.integers(n, 1);
    if (at && r.rank(r.input(n, 1)) == 0 && r.rank(r.input(n, 0)) == 5) return Picked{r.input(n, 0), (*at)[0]};
  }
  if (!r.is(n, "reshape") && !r.is(n, "reshape_to")) return std::nullopt;
  const ValueId piece = r.input(n, 0);
  if (r.rank(piece) != 5 || r.shape(piece)[0] != Dim(1)) return std::nullopt;
  for (int i = 0; i < 4; ++i)
    if (r.shape(piece)[i + 1] != r.shape(v)[i]) return std::nullopt;
  n = r.made_by(piece, "slice");
  const auto starts = r.is(n, "slice") ? r.integers(n, 1) : std::nullopt;
  if (!starts || starts->size() != 1 || r.rank(r.input(n, 0)) != 5) return std::nullopt;
  const auto axes =
      r.input(n, 3) == kNoValue ? std::vector<int64_t>{0} : r.integers(n, 3).value_or(std::vector<int64_t>{});
  if (axes != std::vector<int64_t>{0} && axes != std::vector<int64_t>{-5}) return std::nullopt;
  return Picked{r.input(n, 0), (*starts)[0]};
}

Packed packed(const Rewriter& r, ValueId v, const Perm& split, int64_t heads) {
  const int turn = r.made_by(v, "transpose");
  if (turn >= 0 && perm_of(r, turn) == split) {
    const ValueId x = unsplit(r, r.input(turn, 0));
    return x == kNoValue ? Packed{} : Packed{x, 0, *constant_dim(r, x, 2)};
  }
  // [B,S,G*H*D] -> [B,S,G,H,D] -> [G,B,H,S,D] -> one of G
  if (split != kSplitHeads) return {};
  const auto pick = picked(r, v);
  const int spread = pick ? r.made_by(pick->x, "transpose") : -1;
  if (spread < 0 || perm_of(r, spread) != Perm{2, 0, 3, 1, 4}) return {};
  const ValueId x = unsplit(r, r.input(spread, 0)), stacked = r.input(spread, 0);
  const auto groups = x == kNoValue ? std::nullopt : constant_dim(r, stacked, 2);
  if (!groups || *groups < 1 || constant_dim(r, stacked, 3) != heads) return {};
  const int64_t index = pick->index < 0 ? pick->index + *groups : pick->index;
  const int64_t width = *constant_dim(r, x, 2) / *groups;
  return index >= 0 && index < *groups ? Packed{x, index * width, width} : Packed{};
}

ValueId slice_features(Rewriter& r, const Packed& p) {
  if (p.from == 0 && p.width == r.shape(p.x)[2].constant()) return p.x;
  const auto list = [&](int64_t i) { return r.add_constant(Tensor::vector_i64({i})); };
  return r.add("slice", {p.x, list(p.from), list(p.from + p.width), list(2)});
}

// The reshape to [B,S,H*D] that follows the transpose of the result; -1 when the heads are not merged right away.
int merge_of(const Rewriter& r, int n) {
  if (!r.used_once(r.output(n))) return -1;
  const int turn = r.readers(r.output(n))[0];
  if (perm_of(r, turn) != kSplitHeads || !r.used_once(r.output(turn))) return -1;
  const int merge = r.readers(r.output(turn))[0];
  if (!r.is(merge, "reshape") && !r.is(merge, "reshape_to")) return -1;
  const ValueId y = r.output(merge), x = r.output(turn);
  const bool same = r.rank(y) == 3 && r.shape(y)[0] == r.shape(x)[0] && r.shape(y)[1] == r.shape(x)[1];
  return same && r.input(merge, 0) == x ? merge : -1;
}

bool rewrite_packed(Rewriter& r, int n, const Attention& a, const std::vector<ValueId>& mask, Attrs attrs) {
  const auto heads = constant_dim(r, a.q, 1);
  const int merge = merge_of(r, n);
  if (!heads || merge < 0) return false;
  const Packed q = packed(r, a.q, kSplitHeads, *heads), v = packed(r, a.v, kSplitHeads, *heads);
  const Packed k = packed(r, a.k, a.k_transposed ? kSplitHeadsSwapped : kSplitHeads, *heads);
  if (q.x == kNoValue || k.x == kNoValue || v.x == kNoValue) return false;
  attrs.set("layout", std::string("bshd"));
  attrs.set("num_heads", *heads);
  attrs.set("kv_num_heads", *heads);
  std::vector<ValueId> inputs = {slice_features(r, q), slice_features(r, k), slice_features(r, v)};
  inputs.insert(inputs.end(), mask.begin(), mask.end());
  std::vector<int> nodes = a.nodes;
  nodes.push_back(n);
  r.rewrite(merge, "sdpa", inputs, std::move(attrs), nodes);
  return true;
}

// sdpa's mask. Where hidden keys get -inf it stays boolean. For a finite number f32's lowest is added, which swallows
// the score: a row whose keys are all hidden gives their average, as it did.
ValueId mask_input(Rewriter& r, const Attention& a) {
  if (!a.fill) return a.mask;
  if (std::isinf(*a.fill)) return a.mask_hides ? r.add("not", {a.mask}) : a.mask;
  const ValueId shown = r.add_constant(Tensor::scalar_f32(0));
  const ValueId hidden = r.add_constant(Tensor::scalar_f32(std::numeric_limits<float>::lowest()));
  return r.add("where", {a.mask, a.mask_hides ? hidden : shown, a.mask_hides ? shown : hidden});
}

void rewrite(Rewriter& r, int n, const Attention& a) {
  std::vector<ValueId> mask;
  if (a.mask != kNoValue) mask.push_back(mask_input(r, a));
  Attrs attrs;
  attrs.set("scale", a.scale);
  if (rewrite_packed(r, n, a, mask, attrs)) return;
  std::vector<ValueId> inputs = {a.q, a.k_transposed ? add_transpose(r, a.k, kSwapLast) : a.k, a.v};
  inputs.insert(inputs.end(), mask.begin(), mask.end());
  r.rewrite(n, "sdpa", inputs, std::move(attrs), a.nodes);
}

}  // namespace

bool recognize_attention(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n)
    if (const auto a = match(r, n); a && dims_agree(r, *a)) rewrite(r, n, *a);
  return r.finish();
}

}  // namespace trine
