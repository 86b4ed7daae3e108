#include "graph/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/operand_types.h"
#include "trine/base/error.h"

namespace trine {
namespace {

// Larger integer tensors are data, not shape arithmetic.
constexpr int64_t kMaxContent = 1024;

std::string symbol_safe(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (std::string_view("+-*(), []{}\t\n").find(c) != std::string_view::npos) c = '_';
  return out;
}

}  // namespace

std::optional<std::vector<int64_t>> list_of(const Tensor& constant) {
  if (!constant.defined() || (!is_integer(constant.dtype()) && constant.dtype() != DType::boolean)) return std::nullopt;
  if (constant.rank() > 1 || constant.elements() > kMaxContent) return std::nullopt;
  return constant.i64_values();
}

bool InferContext::has(int i) const { return i < input_count() && node_.inputs[static_cast<size_t>(i)] != kNoValue; }
bool InferContext::wants(int i) const {
  return i < output_count() && node_.outputs[static_cast<size_t>(i)] != kNoValue;
}

const Type& InferContext::input(int i) const {
  return graph_.type(has(i) ? node_.inputs[static_cast<size_t>(i)] : kNoValue);
}

Tensor InferContext::constant(int i) const {
  return has(i) ? graph_.value(node_.inputs[static_cast<size_t>(i)]).constant : Tensor();
}

std::optional<std::vector<Dim>> InferContext::content(int i) const {
  if (!has(i)) return std::nullopt;
  const Value& v = graph_.value(node_.inputs[static_cast<size_t>(i)]);
  if (!v.constant.defined()) return v.content;
  const auto values = list_of(v.constant);
  return values ? std::optional(std::vector<Dim>(values->begin(), values->end())) : std::nullopt;
}

std::optional<std::vector<int64_t>> InferContext::integers(int i) const {
  const auto dims = content(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *dims) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

void InferContext::set(int output, Type type) {
  if (!wants(output)) return;
  if (type.is_tensor() && type.shape.has_rank()) {
    if (type.shape.rank() > kMaxRank) fail(fmt::format("output rank {} exceeds {}", type.shape.rank(), kMaxRank));
    for (const Dim& d : type.shape.dims())
      if (d.is_constant() && d.value() < 0)
        fail(fmt::format("output shape [{}] has a negative dimension", type.shape.text()));
    if (type.shape.is_static()) element_count(type.shape.static_dims());
  }
  Value& v = graph_.value(node_.outputs[static_cast<size_t>(output)]);
  v.type = std::move(type);
  v.content.reset();
}

void InferContext::set_content(int output, std::vector<Dim> content) {
  if (wants(output) && static_cast<int64_t>(content.size()) <= kMaxContent)
    graph_.value(node_.outputs[static_cast<size_t>(output)]).content = std::move(content);
}

// Named after the value it sizes, so that inferring again gives the same symbol.
Dim InferContext::fresh(std::string_view hint) {
  for (ValueId id : node_.outputs)
    if (id != kNoValue)
      return Dim::symbol(fmt::format("{}{}:{}", hint, fresh_count_++, symbol_safe(graph_.value(id).name)));
  return Dim::symbol(fmt::format("{}{}", hint, fresh_count_++));
}

Shape InferContext::fresh_shape(int rank) {
  std::vector<Dim> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(fresh());
  return dims;
}

std::vector<Type> InferContext::infer_body(int k, std::vector<Type> input_types) {
  if (k >= static_cast<int>(node_.bodies.size())) fail(fmt::format("has no body {}", k));
  Graph& body = *node_.bodies[static_cast<size_t>(k)];
  if (input_types.size() != body.inputs.size())
    fail(fmt::format("body takes {} inputs; it is given {}", body.inputs.size(), input_types.size()));
  for (size_t i = 0; i < input_types.size(); ++i) {
    body.value(body.inputs[i]).type = std::move(input_types[i]);
    body.value(body.inputs[i]).content.reset();
  }
  infer_shapes(body);
  std::vector<Type> out;
  for (ValueId id : body.outputs) out.push_back(body.type(id));
  return out;
}

void InferContext::need_rank(int i, int rank) const {
  if (input(i).is_tensor() && shape(i).has_rank() && shape(i).rank() != rank)
    fail(fmt::format("input {} is {}; its rank must be {}", i, input(i).text(), rank));
}

void InferContext::need_rank_at_least(int i, int rank) const {
  if (input(i).is_tensor() && shape(i).has_rank() && shape(i).rank() < rank)
    fail(fmt::format("input {} is {}; its rank must be at least {}", i, input(i).text(), rank));
}

int InferContext::axis(int64_t axis, int rank, std::string_view what) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("{} {} outside [{}, {}] for x {}", what, axis, -rank, rank - 1, input(0).text()));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void InferContext::fail(const std::string& message) const {
  throw Error(ErrorCode::invalid_model, fmt::format("{}: {}", node_.op->name, message));
}

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> out(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const Dim x = ia < 0 ? Dim(1) : a[ia], y = ib < 0 ? Dim(1) : b[ib];
    Dim& d = out[static_cast<size_t>(i)];
    if (x == y || y == Dim(1)) d = x;
    else if (x == Dim(1)) d = y;
    else if (x.is_constant() && y.is_constant())
      throw Error(ErrorCode::invalid_model,
                  fmt::format("broadcast: shapes [{}] and [{}] do not match in dimension {}", a.text(), b.text(), i));
    else if (x.is_constant()) d = x;  // the other is 1 or the same: checked when it is known
    else if (y.is_constant()) d = y;
    else d = max(x, y);
  }
  return out;
}

void infer_node(Graph& graph, Node& node) {
  InferContext context(graph, node);
  TRINE_CHECK(node.op->infer, std::string(node.op->name));
  const auto operand = [&](int i) { return Operand{context.input(i).kind, context.dtype(i)}; };
  const std::string problem = operand_problem(node.op->types, context.input_count(), operand);
  if (!problem.empty()) context.fail(problem);
  node.op->infer(context);
}

namespace {

std::string describe(const Graph& graph, const Node& node, const std::string& reason) {
  std::string inputs;
  for (ValueId id : node.inputs) inputs += (inputs.empty() ? "" : ", ") + graph.type(id).text();
  return fmt::format("node '{}' ({}; inputs {}): {}", node.name, node.op->name, inputs, reason);
}

}  // namespace

void infer_shapes(Graph& graph) {
  std::vector<std::string> problems;
  for (Node& node : graph.nodes) {
    if (!node.op) continue;
    try {
      infer_node(graph, node);
    } catch (const Error& e) {
      problems.push_back(describe(graph, node, e.what()));
      for (ValueId id : node.outputs)
        if (id != kNoValue) graph.value(id).type = Type::tensor(DType::none, Shape());
    }
  }
  if (!problems.empty()) throw Error(ErrorCode::invalid_model, fmt::format("{}", fmt::join(problems, "\n")));
}

void infer_same_as_first(InferContext& c) { c.set(0, c.input(0)); }

namespace {

Shape broadcast_all(const InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.input_count(); ++i) shape = broadcast(shape, c.shape(i));
  return shape;
}

}  // namespace

void infer_broadcast(InferContext& c) { c.set(0, c.dtype(0), broadcast_all(c)); }
void infer_broadcast_bool(InferContext& c) { c.set(0, DType::boolean, broadcast_all(c)); }

}  // namespace trine
