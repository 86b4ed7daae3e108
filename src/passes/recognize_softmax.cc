// e / sum(e) along one axis, with e = exp(x) or exp(x - max(x))  ->  softmax. The shift changes no value, only where
// exp overflows; softmax shifts always.
#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// The single axis that node n folds, keeping the dimension; -1 when it does something else.
int folded_axis(const Rewriter& r, int n, std::string_view op) {
  if (!r.is(n, op) || r.node(n).attrs.integer("keepdims", 1) == 0) return -1;
  const auto axes = r.integers(n, 1);
  const int rank = r.rank(r.input(n, 0));
  if (!axes || axes->size() != 1 || rank <= 0) return -1;
  return static_cast<int>((*axes)[0] < 0 ? (*axes)[0] + rank : (*axes)[0]);
}

bool recognize(Rewriter& r, int n) {
  if (!r.is(n, "div")) return false;
  const ValueId e = r.input(n, 0);
  const int exponential = r.made_by(e, "exp"), sum = r.maker(r.input(n, 1));
  const int axis = folded_axis(r, sum, "reduce_sum");
  if (exponential < 0 || axis < 0 || r.input(sum, 0) != e || !is_float(r.dtype(e))) return false;
  ValueId x = r.input(exponential, 0);
  const int shift = r.made_by(x, "sub");
  if (shift >= 0) {
    const int most = r.maker(r.input(shift, 1));
    if (folded_axis(r, most, "reduce_max") == axis && r.input(most, 0) == r.input(shift, 0)) x = r.input(shift, 0);
  }
  Attrs attrs;
  attrs.set("axis", int64_t{axis});
  r.rewrite(n, "softmax", {x}, std::move(attrs), {exponential, sum, shift});
  return true;
}

}  // namespace

bool recognize_softmax(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) recognize(r, n);
  return r.finish();
}

}  // namespace trine
