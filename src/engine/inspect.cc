#include "trine/engine/inspect.h"

#include "engine/engine_state.h"
#include "engine/graph_info.h"
#include "plan/table.h"

namespace trine {
namespace {

std::vector<std::string> names(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> out;
  for (ValueId id : ids) out.push_back(id == kNoValue ? "" : graph.value(id).name);
  return out;
}

std::vector<IoInfo> infos(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<IoInfo> out;
  for (ValueId id : ids) out.push_back({graph.value(id).name, graph.type(id)});
  return out;
}

struct ToInfo {
  AttributeInfo operator()(const Tensor& t) const { return t.type_text(); }
  AttributeInfo operator()(const Type& t) const { return t.text(); }
  AttributeInfo operator()(const std::vector<Tensor>& list) const {
    std::vector<std::string> texts;
    for (const Tensor& t : list) texts.push_back(t.type_text());
    return texts;
  }
  template <class T>
  AttributeInfo operator()(const T& plain) const {
    return plain;
  }
};

}  // namespace

GraphInfo graph_info(const Graph& graph) {
  GraphInfo info{infos(graph, graph.inputs), infos(graph, graph.outputs), {}, {}};
  for (const Value& v : graph.values)
    if (v.constant.defined()) {
      const bool text = v.constant.dtype() == DType::string;
      const void* data = text ? static_cast<const void*>(&v.constant.strings()) : v.constant.data();
      info.constants.push_back({v.name, v.type, v.constant.bytes(), data});
    }
  for (const Node& node : graph.nodes) {
    NodeInfo& out = info.nodes.emplace_back();
    out.name = node.name;
    out.op = node.op->name;
    for (const auto& [name, value] : node.attrs) out.attributes.emplace(name, std::visit(ToInfo{}, value));
    out.inputs = names(graph, node.inputs);
    out.outputs = names(graph, node.outputs);
    for (const auto& body : node.bodies) out.bodies.push_back(graph_info(*body));
  }
  return info;
}

GraphInfo graph_info(const Engine& engine) { return graph_info(*engine.state()->graph); }

std::vector<PlanMachine> plan_machines(const Engine& engine) {
  const Engine::State& state = *engine.state();
  if (!state.machines.empty()) return state.machines;
  const Plan& plan = *state.plan;
  return {{plan.device.empty() ? std::string(name(plan.limits.level)) : plan.device, plan.limits.threads,
           true}};  // built, not opened
}

std::vector<std::string> code_levels(const Engine& engine) {
  std::vector<std::string> levels;
  for (const codegen::ObjectCode& object : engine.state()->objects) levels.push_back(object.cpu_level);
  for (const DeviceCode& code : engine.state()->device_code)
    levels.push_back(code.device.substr(0, code.device.find(' ')));
  return levels;
}

PlanInfo plan_info(const Engine& engine, const std::map<std::string, int64_t>& sizes, const std::string& device) {
  const Engine::State& state = *engine.state();
  const auto segment = prepare_sizes(*state.plan, representative_inputs(*state.graph, with_likely(state.ranges, sizes)),
                                     target_of(device).get());
  PlanInfo info;
  for (PlanRow& row : plan_rows(*state.plan, *segment))
    info.steps.push_back({std::move(row.node), std::move(row.op), std::move(row.kernel), std::move(row.inputs),
                          std::move(row.outputs), row.flops, row.bytes, std::move(row.note), std::move(row.operators),
                          std::move(row.provider)});
  if (!segment->ends_graph) info.nodes_left = state.graph->nodes.size() - static_cast<size_t>(segment->last);
  for (ArenaRow& row : arena_rows(*segment))
    info.arena.push_back({std::move(row.name), std::move(row.type), row.offset, row.bytes});
  info.arena_bytes = segment->arena_bytes;
  info.workspace_bytes = segment->workspace_bytes;
  return info;
}

}  // namespace trine
