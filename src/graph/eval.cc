#include "graph/eval.h"

#include <fmt/format.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "graph/operand_types.h"
#include "trine/base/error.h"

namespace trine {

EvalContext::EvalContext(const Node& node, std::vector<Datum> inputs, RunBody run_body)
    : node_(node), inputs_(std::move(inputs)), outputs_(node.outputs.size()), run_body_(std::move(run_body)) {}

bool EvalContext::has(int i) const { return i < input_count() && !inputs_[static_cast<size_t>(i)].is_none(); }
bool EvalContext::wants(int i) const { return i < output_count() && node_.outputs[static_cast<size_t>(i)] != kNoValue; }

const Datum& EvalContext::datum(int i) const {
  static const Datum none;
  return i < input_count() ? inputs_[static_cast<size_t>(i)] : none;
}

const Tensor& EvalContext::tensor(int i) const {
  const Datum& d = datum(i);
  if (!d.is_tensor())
    fail(fmt::format("input {} is {}; it must be a tensor", i, d.is_none() ? "absent" : "a sequence"));
  return d.tensor();
}

void EvalContext::set(int output, Datum value) {
  if (wants(output)) outputs_[static_cast<size_t>(output)] = std::move(value);
}

std::vector<Datum> EvalContext::run_body(int k, std::vector<Datum> inputs) const {
  if (k >= static_cast<int>(node_.bodies.size())) fail(fmt::format("has no body {}", k));
  check_deadline();
  return run_body_(*node_.bodies[static_cast<size_t>(k)], std::move(inputs));
}

int EvalContext::axis(int64_t axis, int rank, std::string_view what) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("{} {} outside [{}, {}]", what, axis, -rank, rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int64_t EvalContext::checked_index(int64_t i, int64_t n, std::string_view what) const {
  if (i < -n || i >= n) fail(fmt::format("{} {} outside [{}, {}]", what, i, -n, n - 1));
  return i < 0 ? i + n : i;
}

void EvalContext::fail(const std::string& message) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", node_.op->name, message));
}

namespace {

// References compute in f64: every result is held that wide for a while.
void need_memory_for(const std::vector<const Type*>& outputs) {
  double elements = 0;
  for (const Type* t : outputs)
    if (t->is_tensor() && t->shape.is_static()) elements += static_cast<double>(element_count(t->shape.static_dims()));
  need_memory(elements * sizeof(double));
}

}  // namespace

void run_reference(EvalContext& context, const std::vector<const Type*>& outputs) {
  const OpDef& op = *context.node().op;
  if (!op.reference)
    throw Error(ErrorCode::unsupported, fmt::format("{}: has no reference; it cannot be evaluated", op.name));
  const auto operand = [&](int i) -> Operand {
    const Datum& d = context.datum(i);
    if (d.is_none()) return {};
    return d.is_tensor() ? Operand{Type::Kind::tensor, d.tensor().dtype()} : Operand{Type::Kind::sequence};
  };
  const std::string problem = operand_problem(op.types, context.input_count(), operand);
  if (!problem.empty()) context.fail(problem);
  need_memory_for(outputs);
  with_memory_errors(op.name, [&] { op.reference(context); });
}

std::vector<Datum> evaluate_node(const Node& node, std::vector<Datum> inputs) {
  EvalContext context(node, std::move(inputs),
                      [](const Graph& body, std::vector<Datum> in) { return evaluate(body, std::move(in)); });
  run_reference(context);
  return std::move(context.outputs());
}

std::vector<Datum> evaluate(const Graph& graph, std::vector<Datum> inputs) {
  return evaluate(graph, std::move(inputs), [](ValueId, const Datum&) {});
}

namespace {

// For each value, the index of the last node that reads it; graph outputs are read at the end.
std::vector<size_t> last_reads(const Graph& graph) {
  std::vector<size_t> last(graph.values.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (ValueId id : graph.nodes[n].inputs)
      if (id != kNoValue) last[static_cast<size_t>(id)] = n;
  for (ValueId id : graph.outputs) last[static_cast<size_t>(id)] = graph.nodes.size();
  return last;
}

}  // namespace

std::vector<Datum> evaluate(const Graph& graph, std::vector<Datum> inputs,
                            const std::function<void(ValueId, const Datum&)>& see) {
  if (inputs.size() != graph.inputs.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("evaluate: graph takes {} inputs; it is given {}", graph.inputs.size(), inputs.size()));
  std::vector<Datum> held(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) held[static_cast<size_t>(graph.inputs[i])] = std::move(inputs[i]);
  for (size_t i = 0; i < held.size(); ++i)
    if (graph.values[i].constant.defined()) held[i] = graph.values[i].constant;
  const std::vector<size_t> last = last_reads(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.op) continue;
    std::vector<Datum> in;
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? Datum() : held[static_cast<size_t>(id)]);
    std::vector<Datum> out;
    try {
      out = evaluate_node(node, std::move(in));
    } catch (const Error& e) {
      const std::string what = e.what();
      throw Error(e.code(), what.starts_with("node '") ? what : fmt::format("node '{}': {}", node.name, what));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      see(node.outputs[i], out[i]);
      held[static_cast<size_t>(node.outputs[i])] = std::move(out[i]);
    }
    for (ValueId id : node.inputs)
      if (id != kNoValue && last[static_cast<size_t>(id)] == n) held[static_cast<size_t>(id)] = Datum();
  }
  std::vector<Datum> out;
  for (ValueId id : graph.outputs) out.push_back(held[static_cast<size_t>(id)]);
  return out;
}

Type type_of(const Datum& datum) {
  if (datum.is_tensor()) return Type::tensor(datum.tensor().dtype(), Shape::from(datum.tensor().dims()));
  if (!datum.is_sequence()) return {};
  if (datum.items().empty()) return datum.sequence_type;
  return Type::sequence(type_of(datum.items()[0]));
}

}  // namespace trine
