#include "import/onnx/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/infer.h"
#include "trine/base/error.h"

namespace trine::onnx {

void Budget::take(int64_t objects) {
  left_ -= objects;
  if (left_ < 0)
    throw BudgetExceeded(ErrorCode::unsupported,
                         "the model's functions or captured values unfold into far more nodes than its size justifies");
}

ValueId GraphWriter::add_value(std::string_view name, Type type) {
  budget_.take();
  std::string wanted(name);
  if (wanted.empty()) wanted = fmt::format("_{}", graph.values.size());
  std::string free = wanted;
  for (size_t n = graph.values.size(); !names_.insert(free).second; ++n) free = fmt::format("{}_{}", wanted, n);
  return graph.add_value(std::move(free), std::move(type));
}

ValueId GraphWriter::add_constant(Tensor tensor, std::string_view name) {
  const ValueId id = add_value(name, Type::tensor(tensor.dtype(), Shape::from(tensor.dims())));
  graph.value(id).constant = std::move(tensor);
  return id;
}

void GraphWriter::rename(ValueId id, const std::string& name) {
  if (graph.value(id).name == name) return;
  for (Value& other : graph.values)
    if (other.name == name) other.name = fmt::format("{}_{}", name, graph.values.size());
  graph.value(id).name = name;
}

ValueId GraphWriter::add_input(std::string_view name, Type type) {
  graph.inputs.push_back(add_value(name, std::move(type)));
  return graph.inputs.back();
}

const Tensor& GraphWriter::constant(ValueId id) const {
  static const Tensor none;
  return id == kNoValue ? none : graph.value(id).constant;
}

void GraphWriter::append(Node node) {
  budget_.take();
  const bool blameless =
      std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_doubtful(id); });
  graph.nodes.push_back(std::move(node));
  Node& added = graph.nodes.back();
  try {
    if (blameless) return infer_node(graph, added);
  } catch (const Error&) {
    for (ValueId id : added.outputs) {
      if (id == kNoValue) continue;
      doubt(id);
      graph.value(id).type = unknown_type();
    }
    if (strict_) throw;
    return;
  }
  for (ValueId id : added.outputs)
    if (id != kNoValue) doubt(id);
}

ValueId GraphWriter::apply(std::string_view onnx_op, std::vector<ValueId> inputs, Attrs attrs) {
  const OpDef* op = find_onnx_op(onnx_op);
  if (!op) throw Error(ErrorCode::unsupported, fmt::format("is rewritten with {}, which is not supported", onnx_op));
  Node node;
  node.op = op;
  node.attrs = std::move(attrs);
  node.inputs = std::move(inputs);
  node.outputs = {add_value("")};
  node.name = graph.value(node.outputs[0]).name;
  const ValueId out = node.outputs[0];
  append(std::move(node));
  return out;
}

}  // namespace trine::onnx
