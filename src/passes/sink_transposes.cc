// Transpose elimination: every transpose moves towards the outputs, past each node that can work on other axes just as
// well, until it meets its inverse and both are gone, or nothing lets it pass.
//
//   relu(T x)             -> T relu(x)            add(T x, T y)        -> T add(x, y)
//   add(T x, c)           -> T add(x, T' c)       concat(T x, T y; 1)  -> T concat(x, y; axis of x)
//   mean(T x; [2,3])      -> T mean(x; [1,2])     reshape(T x)         -> T' reshape(x)   where groups of axes stay
//   together transpose(T x)        -> one transpose        T x, moving only axes of size 1  ->  reshape x
//
// T' of a constant is folded by fold_constants. What remains stands at the edges, before nodes that need the order, or
// in a channel shuffle, whose parts are then taken first.
#include "ops/shaped.h"
#include "passes/passes.h"
#include "passes/sink.h"

namespace trine {
namespace {

using Move = bool (*)(Rewriter& r, int n);
constexpr Move kMoves[] = {sink_through_elementwise, sink_through_concat,    sink_through_split,  sink_through_axes,
                           sink_through_axis,        sink_through_reduction, sink_through_reshape};

bool reads_transpose(const Rewriter& r, int n) {
  for (ValueId v : r.node(n).inputs)
    if (!perm_of_value(r, v).empty()) return true;
  return false;
}

// transpose(transpose(x)): one, or none.
bool merge_transposes(Rewriter& r, int n) {
  const Perm p = perm_of(r, n);
  if (p.empty()) return false;
  const Perm before = perm_of_value(r, r.input(n, 0));
  if (before.empty() || before.size() != p.size()) return false;
  const ValueId x = r.input(r.maker(r.input(n, 0)), 0);
  const Perm both = compose(before, p);
  if (is_identity(both) && r.replace(r.output(n), x)) return true;
  become_transpose(r, n, x, both);
  return true;
}

// The axes longer than 1 keep their order: the elements do not move.
bool keeps_order(const Shape& x, const Perm& p) {
  int64_t last = -1;
  for (int64_t axis : p) {
    if (x[static_cast<int>(axis)] == Dim(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

void reshape_instead(Rewriter& r, int n) {
  const Perm p = perm_of(r, n);
  const ValueId x = r.input(n, 0);
  if (p.empty() || r.rank(x) != static_cast<int>(p.size()) || is_identity(p) || !keeps_order(r.shape(x), p)) return;
  std::vector<std::string> dims;
  for (int64_t axis : p) {
    const Dim& d = r.shape(x)[static_cast<int>(axis)];
    dims.push_back(d.is_constant() ? d.text() : local_dim(0, static_cast<int>(axis)).text());
  }
  Attrs attrs;
  attrs.set("dims", std::move(dims));
  r.rewrite(n, "reshape_to", {x}, std::move(attrs));
}

}  // namespace

bool sink_transposes(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n) {
    if (!r.node(n).op || !reads_transpose(r, n) || merge_transposes(r, n)) continue;
    for (Move move : kMoves)
      if (move(r, n)) break;
  }
  for (int n = 0, count = r.size(); n < count; ++n) take_parts_first(r, n);
  for (int n = 0; n < r.size(); ++n) reshape_instead(r, n);
  return r.finish();
}

}  // namespace trine
