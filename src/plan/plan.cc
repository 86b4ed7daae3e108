#include "plan/plan.h"

#include "graph/infer.h"
#include "plan/kernel_call.h"
#include "plan/prepare.h"
#include "trine/base/error.h"

namespace trine {

std::string_view name(StepKind kind) {
  switch (kind) {
    case StepKind::kernel: return "kernel";
    case StepKind::loop: return "loop";
    case StepKind::view: return "view";
    case StepKind::host: return "host";
  }
  return "host";
}

namespace {

bool all_tensors(const Graph& graph, const std::vector<ValueId>& ids) {
  for (ValueId id : ids) {
    if (id == kNoValue) continue;
    const Type& t = graph.type(id);
    if (!t.is_tensor() || !t.shape.has_rank() || t.dtype == DType::none || t.dtype == DType::string) return false;
  }
  return true;
}

bool has_loops(const Node& node) { return node.op->lower != nullptr || node.is("fused"); }

PlanStep plan_node(const Graph& graph, const Node& node, const dnn::Limits& limits) {
  PlanStep step;
  const bool tensors = all_tensors(graph, node.inputs) && all_tensors(graph, node.outputs);
  if (tensors && node.op->view) {
    step.kind = StepKind::view;
  } else if (tensors && has_kernel_calls(node.op->name)) {
    step.kind = StepKind::kernel;
  } else if (tensors && has_loops(node)) {
    codegen::Lowered lowered =
        node.is("fused") ? codegen::lower_group(*node.bodies[0]) : codegen::lower_node(graph, node);
    step.kind = StepKind::loop;
    step.note = lowered.refusal;
    if (lowered) step.loops = std::move(lowered.kernels);
  } else {
    step.note = tensors ? "no kernel or loop form" : "types known only at run time, strings or sequences";
  }
  if (step.kind == StepKind::host)
    for (const auto& body : node.bodies) step.bodies.push_back(make_plan(body, limits));
  return step;
}

}  // namespace

std::shared_ptr<Plan> make_plan(std::shared_ptr<const Graph> graph, const dnn::Limits& limits) {
  auto plan = std::make_shared<Plan>();
  plan->limits = limits;
  for (const Node& node : graph->nodes) plan->steps.push_back(plan_node(*graph, node, limits));
  plan->graph = std::move(graph);
  return plan;
}

}  // namespace trine
