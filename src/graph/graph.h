// Graph: values and nodes in topological order. A body (of if, loop, scan, fused) is a Graph of its own that sees
// nothing but its inputs: what an ONNX subgraph takes from outside becomes explicit trailing inputs of the node
// ("captures").
//
//   graph(%x: f32[N,128]) {
//     %w: f32[128] = const f32[128]{0x...}
//     %3: f32[N,128] = mul %x %w
//     return %3
//   }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/attrs.h"
#include "graph/op_def.h"

namespace trine {

using ValueId = int;
constexpr ValueId kNoValue = -1;  // an absent optional input or an output nobody asked for

class Graph;

struct Value {
  std::string name;  // ONNX name, or generated; unique in its graph
  Type type;
  Tensor constant;                          // defined() for a constant
  std::optional<std::vector<Dim>> content;  // symbolic elements of a small integer tensor (rank 0 or 1), when known
};

struct Node {
  const OpDef* op = nullptr;  // null: erased, dropped by Graph::compact
  std::string name;           // ONNX node name, or that of its first output
  Attrs attrs;
  std::vector<ValueId> inputs;  // formal inputs, then `captures` captured ones
  std::vector<ValueId> outputs;
  std::vector<std::shared_ptr<Graph>> bodies;  // if: then, else; loop, scan, sequence_map, fused: body
  int captures = 0;
  std::vector<std::string> sources;  // names of the model's nodes that this one stands for

  bool is(std::string_view op_name) const { return op && op->name == op_name; }
};

class Graph {
 public:
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  const Type& type(ValueId id) const;  // of kNoValue: Type{} (kind none)

  // Names should be unique (an empty one gets a number): the text form and error messages depend on it.
  ValueId add_value(std::string name, Type type = {});
  ValueId add_constant(Tensor tensor, std::string name = "");
  ValueId add_input(std::string name, Type type);
  // Appends a node with `output_count` new values (named after the node); returns the first output.
  ValueId add_node(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs = {}, int output_count = 1,
                   std::string name = "");
  bool is_constant(ValueId id) const { return id != kNoValue && value(id).constant.defined(); }

  // Index of the node that makes each value, -1 for inputs and constants.
  std::vector<int> producers() const;
  // Indices of the nodes that read each value (once per reading node). Graph outputs are not counted.
  std::vector<std::vector<int>> consumers() const;
  bool is_output(ValueId id) const;
  void replace_uses(ValueId from, ValueId to);  // in node inputs and graph outputs
  void compact();                               // drops erased nodes
  void sort();                                  // topological order, stable; throws Error{invalid_model} naming a cycle

  // A copy that shares no body with this graph (constants, which nobody writes, are shared).
  Graph deep_copy() const;

  std::string text() const;
  static Graph parse(std::string_view text);  // inverse of text(); throws Error{invalid_argument} with the line

  // Every invariant: ids in range, one producer each, order, arity. Throws Error{invalid_model}.
  void verify() const;
};

}  // namespace trine
