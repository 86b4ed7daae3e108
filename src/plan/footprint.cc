#include "plan/footprint.h"

#include <algorithm>
#include <set>

#include "plan/prepare.h"

namespace trine {
namespace {

bool is_packed(const Call& call, int input) {
  const auto& weights = call.what.weights;
  return call.packed_bytes > 0 && std::find(weights.begin(), weights.end(), input) != weights.end();
}

// Constants that the call reads as they are.
void note_constants(const Graph& graph, const Call& call, std::set<ValueId>& read) {
  const Node& node = graph.nodes[static_cast<size_t>(call.node)];
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id != kNoValue && graph.is_constant(id) && !is_packed(call, static_cast<int>(i))) read.insert(id);
  }
}

}  // namespace

Footprint footprint(const Plan& plan, const std::vector<Type>& input_types, const Target* target) {
  const auto segment = prepare(plan, with_input_types(plan, input_types), nullptr, plan.limits.threads, nullptr,
                               Batch::in_parts, target);
  Footprint out{0, static_cast<size_t>(segment->arena_bytes) + segment->workspace_bytes};
  std::set<ValueId> read;
  for (const Call& call : segment->calls) {
    out.weights += call.packed_bytes;
    note_constants(*plan.graph, call, read);
  }
  for (ValueId id : read) out.weights += plan.graph->value(id).constant.bytes();
  for (const PlanStep& step : plan.steps)
    for (const auto& body : step.bodies) {
      const Footprint inner = footprint(*body, representative_inputs(*body->graph), target);
      out.weights += inner.weights;
      out.activations += inner.activations;
    }
  return out;
}

}  // namespace trine
