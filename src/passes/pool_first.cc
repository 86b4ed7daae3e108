// The average of a convolution of one tap is the convolution of the average, which has fewer pixels to work on (the
// transitions of a DenseNet):
//
//   average_pool(conv(x, w [M,C,1,1], b))  ->  conv(average_pool(x), w, b)
//
// A bias stays as it is where the weights of every average add up to 1: padding does not count.
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
}

// conv n only mixes channels, pixel by pixel, and nothing is done to its sums.
bool is_one_tap(const Rewriter& r, int n) {
  const Attrs& attrs = r.node(n).attrs;
  const ValueId w = r.input(n, 1);
  if (r.rank(w) < 3 || r.input(n, 3) != kNoValue || attrs.has("activation")) return false;
  const auto& dims = r.shape(w).dims();
  return std::all_of(dims.begin() + 2, dims.end(), [](const Dim& d) { return d == Dim(1); }) &&
         all_are(attrs.integers("strides"), 1) && all_are(attrs.integers("pads"), 0) &&
         attrs.string("auto_pad", "NOTSET") == "NOTSET" && attrs.string("layout", "nchw") == "nchw";
}

bool averages_fewer(const Rewriter& r, int n) {
  if (r.is(n, "global_average_pool")) return true;
  const auto strides = r.node(n).attrs.integers("strides");
  return r.is(n, "average_pool") && !strides.empty() && !all_are(strides, 1);
}

bool weights_add_up(const Rewriter& r, int n) {
  const Attrs& attrs = r.node(n).attrs;
  return attrs.integer("count_include_pad") == 0 ||
         (all_are(attrs.integers("pads"), 0) && attrs.integer("ceil_mode") == 0 &&
          !attrs.string("auto_pad", "NOTSET").starts_with("SAME"));
}

bool pool_first(Rewriter& r, int n) {
  if (!averages_fewer(r, n) || !is_float(r.dtype(r.output(n)))) return false;
  const ValueId y = r.input(n, 0);
  const int conv = r.made_by(y, "conv");
  if (conv < 0 || !r.used_once(y) || !is_one_tap(r, conv)) return false;
  if (r.input(conv, 2) != kNoValue && !weights_add_up(r, n)) return false;
  const Attrs attrs = r.node(conv).attrs;
  std::vector<ValueId> inputs = r.node(conv).inputs;
  inputs[0] = r.add(r.node(n).op->name, {inputs[0]}, r.node(n).attrs);
  r.rewrite(n, "conv", std::move(inputs), attrs, {conv});
  return true;
}

}  // namespace

bool pool_first(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) pool_first(r, n);
  return r.finish();
}

}  // namespace trine
