// An `if` whose condition is a constant becomes the branch that it takes.
#include "passes/match.h"
#include "passes/passes.h"

namespace trine {

bool inline_branches(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) {  // up to size(): inlined nodes may be such ifs again
    if (!r.is(n, "if")) continue;
    const auto condition = r.number(r.input(n, 0));
    if (!condition || r.node(n).bodies.size() != 2) continue;
    const Node& node = r.node(n);
    const auto branch = node.bodies[*condition != 0 ? 0 : 1];
    const std::vector<ValueId> outputs = node.outputs;
    const std::vector<ValueId> results = r.inline_graph(*branch, {node.inputs.begin() + 1, node.inputs.end()});
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != kNoValue) r.define(outputs[i], results[i]);
    r.erase(n);
  }
  return r.finish();
}

}  // namespace trine
