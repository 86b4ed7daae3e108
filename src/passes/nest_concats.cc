// A concat that begins as another one does, or holds all of its inputs in a row, takes that one's result:
//
//   c = concat(x, a), d = concat(x, a, b)  ->  d = concat(c, b)
//
// Then c can live inside d (plan/lodge.h): the layers of a DenseNet block write their channels into one tensor, once.
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

constexpr size_t kMostReaders = 256;  // of a value that is looked at: bounds the search

int64_t axis_of(const Rewriter& r, int n) {
  const int64_t axis = r.node(n).attrs.integer("axis");
  return axis < 0 ? axis + r.rank(r.output(n)) : axis;
}

// Inputs [begin, begin + count) of a concat are those of another.
struct Run {
  size_t begin = 0, count = 0;
  int of = -1;
};

Run longest_run(const Rewriter& r, int n) {
  const auto& inputs = r.node(n).inputs;
  Run best;
  for (size_t i = 0; i + best.count < inputs.size(); ++i) {
    if (r.readers(inputs[i]).size() > kMostReaders) continue;
    for (int m : r.readers(inputs[i])) {
      const auto& inner = r.node(m).inputs;
      if (m == n || !r.is(m, "concat") || inner.size() >= inputs.size() || inner.size() > inputs.size() - i) continue;
      if (inner.size() < 2 || inner.size() <= best.count || r.rank(r.output(m)) < 0) continue;
      if (axis_of(r, m) == axis_of(r, n) &&
          std::equal(inner.begin(), inner.end(), inputs.begin() + static_cast<long>(i)))
        best = {i, inner.size(), m};
    }
  }
  return best;
}

bool nest(Rewriter& r, int n) {
  const Run run = longest_run(r, n);
  if (run.of < 0) return false;
  std::vector<ValueId> inputs = r.node(n).inputs;
  const auto begin = inputs.begin() + static_cast<long>(run.begin);
  *begin = r.output(run.of);
  inputs.erase(begin + 1, begin + static_cast<long>(run.count));
  r.set_inputs(n, std::move(inputs));
  return true;
}

}  // namespace

bool nest_concats(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n)
    while (r.is(n, "concat") && nest(r, n)) {
    }
  return r.finish();
}

}  // namespace trine
