// Model-local functions: a call is replaced by the function's nodes. A function's names are its own; it sees its caller
// only through inputs and attributes.
#include <fmt/format.h>

#include "import/onnx/convert.h"
#include "import/onnx/order.h"
#include "trine/base/error.h"

namespace trine::onnx {

static std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}:{}:{}", domain, name, overload);
}

void Converter::add_function(Bytes bytes) {
  Function function{read_function(bytes), {}, false};
  const std::string key = key_of(function.proto.domain, function.proto.name, function.proto.overload);
  try {
    function.order = execution_order(function.proto.nodes);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("function '{}': {}", function.proto.name, e.what()));
  }
  if (!functions_.emplace(key, std::move(function)).second)
    throw Error(ErrorCode::invalid_model, fmt::format("function '{}' is there twice", key));
}

Converter::Function* Converter::find_function(const ProtoNode& node) {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find(key_of(node.domain, node.op_type, node.overload));
  return it == functions_.end() ? nullptr : &it->second;
}

Environment Converter::environment_of(const Function& function, const ProtoNode& call,
                                      const Environment& caller) const {
  Environment inside;
  inside.opsets = caller.opsets;
  for (const auto& [domain, version] : function.proto.opsets) inside.opsets[domain] = version;
  for (Bytes bytes : function.proto.defaults) inside.arguments[read_attribute_head(bytes).name] = bytes;
  for (Bytes bytes : call.attributes) {
    const ProtoAttributeHead head = read_attribute_head(bytes);
    if (head.type == kGraphAttribute)
      throw Error(ErrorCode::unsupported, fmt::format("attribute '{}' hands a graph to a function", head.name));
    if (head.reference.empty()) inside.arguments[head.name] = bytes;
    else if (const auto it = caller.arguments.find(head.reference); it != caller.arguments.end())
      inside.arguments[head.name] = it->second;
  }
  inside.prefix =
      fmt::format("{}{}/", caller.prefix, call.name.empty() && !call.outputs.empty() ? call.outputs[0] : call.name);
  inside.depth = caller.depth + 1;
  return inside;
}

void Converter::call_function(Function& function, const ProtoNode& call, Scope& scope, const Environment& environment,
                              const std::vector<ValueId>& inputs) {
  const ProtoFunction& proto = function.proto;
  if (function.active) throw Error(ErrorCode::invalid_model, fmt::format("function '{}' calls itself", proto.name));
  if (environment.depth >= kMaxNesting)
    throw Error(ErrorCode::unsupported, fmt::format("functions call each other deeper than {}", kMaxNesting));
  if (inputs.size() > proto.inputs.size() || call.outputs.size() > proto.outputs.size())
    throw Error(ErrorCode::invalid_model,
                fmt::format("has {} inputs and {} outputs; function '{}' has {} and {}", inputs.size(),
                            call.outputs.size(), proto.name, proto.inputs.size(), proto.outputs.size()));

  Environment inside = environment_of(function, call, environment);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const auto result = environment.results.find(call.outputs[i]);
    inside.results[proto.outputs[i]] =
        result != environment.results.end() ? result->second : environment.prefix + std::string(call.outputs[i]);
  }
  Scope callee{scope.writer, nullptr, nullptr, {}};
  for (size_t i = 0; i < proto.inputs.size(); ++i)
    callee.values[proto.inputs[i]] = i < inputs.size() ? inputs[i] : kNoValue;

  function.active = true;
  try {
    for (size_t n : function.order) convert_node(proto.nodes[n], callee, inside);
  } catch (...) {
    function.active = false;
    throw;
  }
  function.active = false;

  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const std::optional<ValueId> made = resolve(callee, proto.outputs[i]);
    if (!made || *made == kNoValue)
      throw Error(ErrorCode::invalid_model,
                  fmt::format("function '{}' makes no output '{}'", proto.name, proto.outputs[i]));
    ValueId id = *made;
    const std::string& name = inside.results[proto.outputs[i]];
    if (scope.writer.graph.value(id).name != name) {  // an input or a constant handed through
      id = scope.writer.apply("Identity", {id});
      scope.writer.rename(id, name);
    }
    scope.values.emplace(call.outputs[i], id);
  }
}

}  // namespace trine::onnx
