#include "import/onnx/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/onnx/attribute_table.h"
#include "import/onnx/order.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

// Declared types are hints, yet nonsense in them is an error. Kinds that we do not have are told with the node.
void check_declared(const std::vector<ProtoValue>& values, std::string_view role, DimNames& names) {
  for (const ProtoValue& value : values) {
    try {
      read_type(value.type, fmt::format("{} '{}'", role, value.name), names);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::unsupported) throw;
    }
  }
}

int64_t version_of(const Environment& environment, std::string_view domain) {
  if (const auto it = environment.opsets.find(domain); it != environment.opsets.end()) return it->second;
  if (!domain.empty()) return 1;
  throw Error(ErrorCode::invalid_model, "the model imports no operator set of domain 'ai.onnx'");
}

void check_arity(const OpDef& op, size_t inputs, size_t outputs) {
  const auto check = [](std::string_view what, size_t got, int low, int high) {
    if (static_cast<int>(got) >= low && (high < 0 || static_cast<int>(got) <= high)) return;
    throw Error(ErrorCode::invalid_model, fmt::format("has {} {}; {} to {} are accepted", got, what, low,
                                                      high < 0 ? "any number" : std::to_string(high)));
  };
  check("inputs", inputs, op.min_inputs, op.max_inputs);
  check("outputs", outputs, op.min_outputs, op.max_outputs);
}

Tensor constant_of(const Attrs& attrs) {
  if (const Tensor* t = attrs.tensor("value")) return *t;
  if (const Tensor* t = attrs.tensor("sparse_value")) return *t;
  if (attrs.has("value_int")) return Tensor::scalar_i64(attrs.integer("value_int"));
  if (attrs.has("value_ints")) return Tensor::vector_i64(attrs.integers("value_ints"));
  if (attrs.has("value_float")) return Tensor::scalar_f32(static_cast<float>(attrs.real("value_float")));
  if (attrs.has("value_floats")) {
    const std::vector<double> values = attrs.reals("value_floats");
    return Tensor::from_f64(DType::f32, {static_cast<int64_t>(values.size())}, values);
  }
  if (attrs.has("value_string")) return Tensor::of_strings({}, {attrs.string("value_string")});
  if (attrs.has("value_strings")) {
    const std::vector<std::string> values = attrs.strings("value_strings");
    return Tensor::of_strings({static_cast<int64_t>(values.size())}, values);
  }
  throw Error(ErrorCode::invalid_model, "has no value; one of value, sparse_value, value_int, ... must be given");
}

// The name in the graph of what a node calls `name`.
std::string full_name(const Environment& environment, std::string_view name) {
  const auto result = environment.results.find(name);
  return result != environment.results.end() ? result->second : environment.prefix + std::string(name);
}

}  // namespace

std::optional<ValueId> resolve(Scope& scope, std::string_view name) {
  if (const auto it = scope.values.find(name); it != scope.values.end()) return it->second;
  if (!scope.outer) return std::nullopt;
  const std::optional<ValueId> outer = resolve(*scope.outer, name);
  if (!outer || *outer == kNoValue) return outer;
  const GraphWriter& from = scope.outer->writer;
  ValueId inner;
  if (from.graph.is_constant(*outer)) {
    inner = scope.writer.add_constant(from.constant(*outer), name);
  } else {
    inner = scope.writer.add_value(name, from.type(*outer));
    if (from.is_doubtful(*outer)) scope.writer.doubt(inner);
    scope.captures->push_back({*outer, inner});
  }
  scope.values.emplace(name, inner);
  return inner;
}

void Converter::convert_graph(const ProtoGraph& proto, Scope& scope, const Environment& environment, bool is_body) {
  check_declared(proto.inner, "value", names_);
  check_declared(proto.outputs, "output", names_);
  convert_initializers(proto, scope);
  convert_inputs(proto, scope, is_body);
  for (size_t n : execution_order(proto.nodes)) convert_node(proto.nodes[n], scope, environment);
  for (const ProtoValue& output : proto.outputs) {
    const std::optional<ValueId> id = resolve(scope, output.name);
    if (!id || *id == kNoValue)
      throw Error(
          ErrorCode::invalid_model,
          fmt::format("output '{}' of graph '{}' is made by no node, input or initializer", output.name, proto.name));
    scope.writer.graph.outputs.push_back(*id);
    if (!is_body) scope.writer.rename(*id, std::string(output.name));
  }
}

void Converter::convert_initializers(const ProtoGraph& proto, Scope& scope) {
  const auto add = [&](std::string_view name, Bytes bytes, bool sparse) {
    if (name.empty()) throw Error(ErrorCode::invalid_model, "an initializer has no name");
    if (scope.values.contains(name))
      throw Error(ErrorCode::invalid_model, fmt::format("initializer '{}' is there twice; names are unique", name));
    const std::string where = fmt::format("initializer '{}'", name);
    Tensor tensor = sparse ? tensors_.read_sparse(bytes, where) : tensors_.read(bytes, where);
    scope.values.emplace(name, scope.writer.add_constant(std::move(tensor), name));
  };
  for (Bytes bytes : proto.initializers) add(tensor_name(bytes), bytes, false);
  for (Bytes bytes : proto.sparse_initializers) add(sparse_tensor_name(bytes), bytes, true);
}

void Converter::convert_inputs(const ProtoGraph& proto, Scope& scope, bool is_body) {
  std::unordered_map<std::string_view, int> seen;
  for (const ProtoValue& input : proto.inputs) {
    if (input.name.empty()) throw Error(ErrorCode::invalid_model, "a graph input has no name");
    if (seen[input.name]++ > 0)
      throw Error(ErrorCode::invalid_model, fmt::format("input '{}' is there twice; names are unique", input.name));
    Type type = read_type(input.type, fmt::format("input '{}'", input.name), names_);
    if (scope.values.contains(input.name)) continue;        // an initialiser: its default
    if (is_body && type.is_tensor()) type.shape = Shape();  // what a body is given may change from trip to trip
    scope.values.emplace(input.name, scope.writer.add_input(input.name, std::move(type)));
  }
}

void Converter::convert_node(const ProtoNode& proto, Scope& scope, const Environment& environment) {
  budget_.take();
  GraphWriter& writer = scope.writer;
  std::vector<ValueId> inputs;
  try {
    return convert_operator(proto, scope, environment, inputs);
  } catch (const BudgetExceeded&) {
    throw;
  } catch (const Error& e) {
    const auto opset = environment.opsets.find(proto.domain);
    report_.add(proto, opset == environment.opsets.end() ? 0 : opset->second, writer.graph, inputs, e);
  }
  for (std::string_view name : proto.outputs) {  // what reads them is not to blame
    if (name.empty() || scope.values.contains(name)) continue;
    const ValueId id = writer.add_value(full_name(environment, name));
    writer.doubt(id);
    scope.values.emplace(name, id);
  }
}

std::vector<ValueId> Converter::resolve_inputs(const ProtoNode& proto, Scope& scope) const {
  std::vector<ValueId> inputs;
  std::vector<std::string_view> missing;
  for (std::string_view name : proto.inputs) {
    const std::optional<ValueId> id = name.empty() ? kNoValue : resolve(scope, name);
    if (!id) missing.push_back(name);
    inputs.push_back(id.value_or(kNoValue));
  }
  if (!missing.empty())
    throw Error(ErrorCode::invalid_model,
                fmt::format("input '{}' is made by no node, input or initializer", fmt::join(missing, "', '")));
  return inputs;
}

void Converter::convert_operator(const ProtoNode& proto, Scope& scope, const Environment& environment,
                                 std::vector<ValueId>& inputs) {
  GraphWriter& writer = scope.writer;
  inputs = resolve_inputs(proto, scope);
  for (std::string_view name : proto.outputs)
    if (!name.empty() && scope.values.contains(name))
      throw Error(ErrorCode::invalid_model, fmt::format("output '{}' is already made by something else", name));
  if (Function* function = find_function(proto)) return call_function(*function, proto, scope, environment, inputs);
  if (proto.domain.empty() && proto.op_type == "Constant") return convert_constant(proto, scope, environment);

  ImportNode node;
  node.op = proto.domain.empty() ? std::string(proto.op_type) : fmt::format("{}:{}", proto.domain, proto.op_type);
  node.inputs = inputs;
  for (std::string_view name : proto.outputs) node.wanted.push_back(!name.empty());
  const int64_t version = version_of(environment, proto.domain);
  const size_t problems = report_.count();
  read_attributes(proto, version, scope, environment, node);
  const bool bodies_are_fine = report_.count() == problems;
  modernise(node, version, writer);
  const OpDef* op = find_onnx_op(node.op);
  if (!op) throw Error(ErrorCode::unsupported, "the operator is not supported; docs/onnx.md lists those that are");
  while (node.bodies.empty() && !node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  check_arity(*op, node.inputs.size(), proto.outputs.size());

  Node result;
  result.op = op;
  result.name =
      environment.prefix + std::string(proto.name.empty() && !proto.outputs.empty() ? proto.outputs[0] : proto.name);
  result.attrs = std::move(node.attrs);
  result.captures = static_cast<int>(node.captures.size());
  result.inputs = std::move(node.inputs);
  result.inputs.insert(result.inputs.end(), node.captures.begin(), node.captures.end());
  result.bodies = std::move(node.bodies);
  result.sources = {result.name};
  for (std::string_view name : proto.outputs) {
    result.outputs.push_back(name.empty() ? kNoValue : writer.add_value(full_name(environment, name)));
    if (name.empty()) continue;
    if (!bodies_are_fine) writer.doubt(result.outputs.back());
    if (!scope.values.emplace(name, result.outputs.back()).second)
      throw Error(ErrorCode::invalid_model, fmt::format("output '{}' is named twice", name));
  }
  if (bodies_are_fine) writer.append(std::move(result));
}

void Converter::convert_constant(const ProtoNode& proto, Scope& scope, const Environment& environment) {
  ImportNode node;
  node.op = "Constant";
  read_attributes(proto, version_of(environment, proto.domain), scope, environment, node);
  if (proto.outputs.size() != 1 || !proto.inputs.empty())
    throw Error(ErrorCode::invalid_model, "a Constant has no input and one output");
  if (proto.outputs[0].empty()) return;
  scope.values.emplace(proto.outputs[0],
                       scope.writer.add_constant(constant_of(node.attrs), full_name(environment, proto.outputs[0])));
}

void Converter::read_attributes(const ProtoNode& proto, int64_t version, Scope& scope, const Environment& environment,
                                ImportNode& node) {
  std::map<std::string_view, Bytes> graphs;
  const auto set = [&](std::string_view name, Bytes bytes) {
    AttrValue value = read_attribute(bytes, tensors_, names_);
    check_attribute(node.op, version, name, kind_of(value));
    set_attribute(node.attrs, name, std::move(value));
  };
  for (Bytes bytes : proto.attributes) {
    const ProtoAttributeHead head = read_attribute_head(bytes);
    if (is_private(head.name)) continue;
    if (node.attrs.has(head.name) || graphs.contains(head.name))
      throw Error(ErrorCode::invalid_model, fmt::format("attribute '{}' is there twice", head.name));
    if (head.reference.empty()) {
      if (head.type != kGraphAttribute) set(head.name, bytes);
      else check_attribute(node.op, version, head.name, 'g'), graphs.emplace(head.name, head.graph);
    } else if (const auto it = environment.arguments.find(head.reference); it != environment.arguments.end()) {
      set(head.name, it->second);
    }
  }
  check_complete(node.op, version,
                 [&](std::string_view name) { return node.attrs.has(name) || graphs.contains(name); });
  if (graphs.empty()) return;
  std::vector<std::string> body_names;
  for (const auto& [name, bytes] : graphs) body_names.emplace_back(name);
  if (node.op == "If") std::reverse(body_names.begin(), body_names.end());  // then_branch, else_branch
  std::vector<PendingBody> bodies;
  for (const std::string& name : body_names) bodies.push_back(convert_body(graphs[name], scope, environment));
  attach_bodies(std::move(bodies), scope, node);
  const bool known = node.op == "If" || node.op == "Loop" || node.op == "Scan" || node.op == "SequenceMap";
  if (!known) node.attrs.set("bodies", std::move(body_names));
}

Converter::PendingBody Converter::convert_body(Bytes bytes, Scope& scope, const Environment& environment) {
  if (environment.depth >= kMaxNesting)
    throw Error(ErrorCode::unsupported,
                fmt::format("graphs are nested deeper than {}; flatten the model", kMaxNesting));
  PendingBody body{std::make_unique<GraphWriter>(budget_, false), {}};
  Scope inner{*body.writer, &scope, &body.captures, {}};
  Environment inside = environment;
  inside.depth += 1;
  inside.results.clear();
  convert_graph(read_graph(bytes), inner, inside, true);
  return body;
}

// All bodies of a node take the same captured values, in the order in which they were first met.
void Converter::attach_bodies(std::vector<PendingBody> bodies, Scope& scope, ImportNode& node) {
  std::unordered_map<ValueId, size_t> place;
  for (const PendingBody& body : bodies)
    for (const Capture& capture : body.captures)
      if (place.emplace(capture.outer, node.captures.size()).second) node.captures.push_back(capture.outer);
  for (PendingBody& body : bodies) {
    std::vector<ValueId> inner(node.captures.size(), kNoValue);
    for (const Capture& capture : body.captures) {
      ValueId& slot = inner[place[capture.outer]];
      if (slot == kNoValue) slot = capture.inner;
    }
    for (size_t i = 0; i < inner.size(); ++i) {
      const Value& outer = scope.writer.graph.value(node.captures[i]);
      if (inner[i] == kNoValue) inner[i] = body.writer->add_value(outer.name, outer.type);
      body.writer->graph.inputs.push_back(inner[i]);
    }
    node.bodies.push_back(std::make_shared<Graph>(std::move(body.writer->graph)));
  }
}

}  // namespace trine::onnx
