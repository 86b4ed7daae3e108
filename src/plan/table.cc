#include "plan/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/footprint.h"
#include "trine/base/error.h"

namespace trine {
namespace {

double call_flops(const Call& call) { return call.kind == Call::Kind::kernel ? dnn::flops(call.what.problem) : 0; }

double call_bytes(const Graph& typed, const Node& node, const Call& call) {
  if (call.kind == Call::Kind::kernel) return dnn::bytes(call.what.problem);
  double bytes = 0;
  for (const auto* ids : {&node.inputs, &node.outputs})
    for (ValueId id : *ids) {
      const Type& t = typed.type(id);
      if (t.is_tensor() && t.shape.is_static())
        bytes += static_cast<double>(element_count(t.shape.static_dims())) * static_cast<double>(byte_size(t.dtype));
    }
  return bytes;
}

std::string kernel_name(const Call& call) {
  if (call.device) return std::string(call.device->kernel());
  switch (call.kind) {
    case Call::Kind::kernel: return std::string(call.row->name);
    case Call::Kind::loop: return call.loops.empty() || !call.loops[0].compiled() ? "loop (interpreted)" : "loop";
    case Call::Kind::host: return "host";
  }
  return "host";
}

std::string provider_name(const Call& call) {
  if (call.device) return std::string(call.device->provider());
  return call.kind == Call::Kind::host ? "host" : "own";
}

// Those of a fused group, else the node's own.
std::vector<std::string> operators_of(const Node& node) {
  if (!node.is("fused") || node.bodies.empty()) return {std::string(node.op->name)};
  std::vector<std::string> names;
  for (const Node& inner : node.bodies[0]->nodes)
    if (inner.op) names.emplace_back(inner.op->name);
  return names;
}

// "fused: add relu" for a group, the operator's name elsewhere, with what its epilogue holds.
std::string what_runs(const Node& node, const Call& call) {
  std::string out(node.op->name);
  if (node.is("fused") && !node.bodies.empty()) {
    out += ":";
    for (const std::string& name : operators_of(node)) out += " " + name;
  }
  const dnn::Epilogue* epilogue = nullptr;
  if (const auto* conv = std::get_if<dnn::ConvProblem>(&call.what.problem)) epilogue = &conv->epilogue;
  if (const auto* matmul = std::get_if<dnn::MatmulProblem>(&call.what.problem)) epilogue = &matmul->epilogue;
  if (call.kind == Call::Kind::kernel && epilogue && !epilogue->is_plain()) out += " " + epilogue->text();
  return out;
}

// " in 'c'" for what is written where the concat c wants it.
std::string place(const Segment& segment, ValueId id) {
  const ValueId root = segment.root[static_cast<size_t>(id)], home = segment.home(root);
  return home == root ? "" : fmt::format(" in '{}'", segment.typed.value(home).name);
}

// " -> f32[8] in 'c'"
std::string shapes(const Segment& segment, const Node& node, const PlanRow& row) {
  std::string out;
  for (const Type& type : row.inputs) out += (out.empty() ? "" : " ") + type.text();
  out += " ->";
  for (ValueId id : node.outputs)
    if (id != kNoValue) out += " " + segment.typed.type(id).text() + place(segment, id);
  return out;
}

std::string human(double v, std::string_view unit) {
  static constexpr const char* kPrefix[] = {"", "k", "M", "G", "T"};
  int p = 0;
  while (v >= 10000 && p < 4) {
    v /= 1000;
    ++p;
  }
  return fmt::format("{:.0f} {}{}", v, kPrefix[p], unit);
}

}  // namespace

std::unique_ptr<Segment> prepare_sizes(const Plan& plan, const std::vector<Type>& types, const Target* target) {
  return prepare(plan, with_input_types(plan, types), nullptr, plan.limits.threads, nullptr, Batch::in_parts, target);
}

std::vector<PlanRow> plan_rows(const Plan& plan, const Segment& segment) {
  std::vector<PlanRow> rows;
  for (const Call& call : segment.calls) {
    const Node& node = plan.graph->nodes[static_cast<size_t>(call.node)];
    PlanRow& row = rows.emplace_back(PlanRow{node.name, what_runs(node, call), kernel_name(call), call_flops(call),
                                             call_bytes(segment.typed, node, call)});
    row.operators = operators_of(node);
    row.provider = provider_name(call);
    for (ValueId id : node.inputs)
      if (id != kNoValue && !segment.typed.is_constant(id)) row.inputs.push_back(segment.typed.type(id));
    for (ValueId id : node.outputs)
      if (id != kNoValue) row.outputs.push_back(segment.typed.type(id));
    if (call.kind == Call::Kind::host)
      row.note = call.note.empty() ? plan.steps[static_cast<size_t>(call.node)].note : call.note;
  }
  return rows;
}

std::vector<ArenaRow> arena_rows(const Segment& segment) {
  std::vector<ArenaRow> rows;
  for (const auto& [id, offset] : segment.offsets) {
    const Type& t = segment.typed.type(id);
    rows.push_back({segment.typed.value(id).name, t, offset,
                    element_count(t.shape.static_dims()) * static_cast<int64_t>(byte_size(t.dtype))});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ArenaRow& a, const ArenaRow& b) { return a.offset < b.offset; });
  return rows;
}

std::string plan_table(const Plan& plan, const std::vector<Type>& types, const Target* target) {
  const std::unique_ptr<Segment> segment = prepare_sizes(plan, types, target);
  const std::vector<PlanRow> rows = plan_rows(plan, *segment);
  std::string out = fmt::format("{:>4}  {:<36} {:>10} {:>10}  {}\n", "step", "kernel", "flops", "bytes", "node");
  double flops = 0, bytes = 0;
  for (size_t c = 0; c < rows.size(); ++c) {
    const PlanRow& row = rows[c];
    flops += row.flops;
    bytes += row.bytes;
    const Node& node = plan.graph->nodes[static_cast<size_t>(segment->calls[c].node)];
    out += fmt::format("{:>4}  {:<36} {:>10} {:>10}  {} '{}' {}\n", c, row.kernel, human(row.flops, ""),
                       human(row.bytes, "B"), row.op, row.node, shapes(*segment, node, row));
    if (!row.note.empty()) out += fmt::format("      ({})\n", row.note);
  }
  for (const Strip& strip : segment->strips)
    out += fmt::format("      steps {} to {} go through the batch in {} parts{}\n", strip.first, strip.last - 1,
                       strip.parts, strip.dealt ? ", each on one thread" : "");
  if (!segment->ends_graph)
    out += fmt::format("      ... {} more nodes, whose sizes are known only at run time\n",
                       plan.graph->nodes.size() - static_cast<size_t>(segment->last));
  const Footprint held = footprint(plan, types, target);
  out += fmt::format("{} steps, {}, {} moved, activations {}, weights {} as they are read, for {}\n",
                     segment->calls.size(), human(flops, "flop"), human(bytes, "B"),
                     human(static_cast<double>(held.activations), "B"), human(static_cast<double>(held.weights), "B"),
                     target ? std::string_view(target->fingerprint()) : name(plan.limits.level));
  return out;
}

std::string memory_table(const Plan& plan, const std::vector<Type>& types, const Target* target) {
  const std::unique_ptr<Segment> segment = prepare_sizes(plan, types, target);
  std::string out = fmt::format("{:>12} {:>12}  value\n", "offset", "bytes");
  for (const ArenaRow& row : arena_rows(*segment))
    out += fmt::format("{:>12} {:>12}  {} {}\n", row.offset, row.bytes, row.name, row.type.text());
  return out + fmt::format("arena {} bytes, workspace {} bytes\n", segment->arena_bytes, segment->workspace_bytes);
}

CallTime call_time(const CallEvent& event) {
  return {event.node->name,          what_runs(*event.node, *event.call),
          kernel_name(*event.call),  event.seconds,
          call_flops(*event.call),   call_bytes(event.segment->typed, *event.node, *event.call),
          provider_name(*event.call)};
}

}  // namespace trine
