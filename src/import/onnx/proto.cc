// Field numbers of onnx.proto, one reader per message.
#include "import/onnx/proto.h"

#include "import/onnx/wire.h"

namespace trine::onnx {

std::pair<std::string_view, std::string_view> read_string_pair(Bytes bytes) {
  std::pair<std::string_view, std::string_view> pair;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: pair.first = m.bytes(); break;
      case 2: pair.second = m.bytes(); break;
      default: m.skip();
    }
  }
  return pair;
}

static OpsetImport read_opset(Bytes bytes) {
  OpsetImport opset{"", 0};
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: opset.first = canonical_domain(m.bytes()); break;
      case 2: opset.second = m.integer(); break;
      default: m.skip();
    }
  }
  return opset;
}

ProtoValue read_value(Bytes bytes) {
  ProtoValue value;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: value.name = m.bytes(); break;
      case 2: value.type = m.bytes(); break;
      default: m.skip();
    }
  }
  return value;
}

ProtoAttributeHead read_attribute_head(Bytes bytes) {
  ProtoAttributeHead head;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: head.name = m.bytes(); break;
      case 6: head.graph = m.bytes(); break;
      case 20: head.type = m.integer(); break;
      case 21: head.reference = m.bytes(); break;
      default: m.skip();
    }
  }
  return head;
}

ProtoNode read_node(Bytes bytes) {
  ProtoNode node;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: node.inputs.push_back(m.bytes()); break;
      case 2: node.outputs.push_back(m.bytes()); break;
      case 3: node.name = m.bytes(); break;
      case 4: node.op_type = m.bytes(); break;
      case 5: node.attributes.push_back(m.bytes()); break;
      case 7: node.domain = canonical_domain(m.bytes()); break;
      case 8: node.overload = m.bytes(); break;
      default: m.skip();
    }
  }
  if (node.op_type.empty()) throw Damaged(bytes.data(), "a node has no operator");
  return node;
}

ProtoGraph read_graph(Bytes bytes) {
  ProtoGraph graph;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: graph.nodes.push_back(read_node(m.bytes())); break;
      case 2: graph.name = m.bytes(); break;
      case 5: graph.initializers.push_back(m.bytes()); break;
      case 11: graph.inputs.push_back(read_value(m.bytes())); break;
      case 12: graph.outputs.push_back(read_value(m.bytes())); break;
      case 13: graph.inner.push_back(read_value(m.bytes())); break;
      case 15: graph.sparse_initializers.push_back(m.bytes()); break;
      default: m.skip();
    }
  }
  return graph;
}

ProtoFunction read_function(Bytes bytes) {
  ProtoFunction function;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: function.name = m.bytes(); break;
      case 4: function.inputs.push_back(m.bytes()); break;
      case 5: function.outputs.push_back(m.bytes()); break;
      case 6: function.attributes.push_back(m.bytes()); break;
      case 7: function.nodes.push_back(read_node(m.bytes())); break;
      case 9: function.opsets.push_back(read_opset(m.bytes())); break;
      case 10: function.domain = canonical_domain(m.bytes()); break;
      case 11: function.defaults.push_back(m.bytes()); break;
      case 12: function.inner.push_back(read_value(m.bytes())); break;
      case 13: function.overload = m.bytes(); break;
      default: m.skip();
    }
  }
  return function;
}

ProtoModel read_model(Bytes bytes) {
  ProtoModel model;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: model.ir_version = m.integer(); break;
      case 2: model.producer_name = m.bytes(); break;
      case 3: model.producer_version = m.bytes(); break;
      case 7:
        model.graph = m.bytes();
        model.has_graph = true;
        break;
      case 8: model.opsets.push_back(read_opset(m.bytes())); break;
      case 14: model.metadata.push_back(read_string_pair(m.bytes())); break;
      case 25: model.functions.push_back(m.bytes()); break;
      default: m.skip();
    }
  }
  return model;
}

}  // namespace trine::onnx
