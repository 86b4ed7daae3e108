#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "trine/base/error.h"

namespace trine {

const Type& Graph::type(ValueId id) const {
  static const Type none;
  return id == kNoValue ? none : value(id).type;
}

ValueId Graph::add_value(std::string name, Type type) {
  const auto id = static_cast<ValueId>(values.size());
  if (name.empty()) name = fmt::format("_{}", id);
  values.push_back({std::move(name), std::move(type), {}, std::nullopt});
  return id;
}

ValueId Graph::add_constant(Tensor tensor, std::string name) {
  const ValueId id = add_value(std::move(name), Type::tensor(tensor.dtype(), Shape::from(tensor.dims())));
  value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::add_input(std::string name, Type type) {
  inputs.push_back(add_value(std::move(name), std::move(type)));
  return inputs.back();
}

ValueId Graph::add_node(const OpDef& op, std::vector<ValueId> in, Attrs attrs, int output_count, std::string name) {
  Node node;
  node.op = &op;
  node.attrs = std::move(attrs);
  node.inputs = std::move(in);
  for (int i = 0; i < output_count; ++i) {
    const std::string suffix = output_count > 1 ? fmt::format(".{}", i) : "";
    node.outputs.push_back(add_value(name.empty() ? "" : name + suffix));
  }
  node.name = name.empty() ? value(node.outputs[0]).name : std::move(name);
  nodes.push_back(std::move(node));
  return nodes.back().outputs[0];
}

std::vector<int> Graph::producers() const {
  std::vector<int> out(values.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!nodes[n].op) continue;
    for (ValueId id : nodes[n].outputs)
      if (id != kNoValue) out[static_cast<size_t>(id)] = static_cast<int>(n);
  }
  return out;
}

std::vector<std::vector<int>> Graph::consumers() const {
  std::vector<std::vector<int>> out(values.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!nodes[n].op) continue;
    for (ValueId id : nodes[n].inputs) {
      if (id == kNoValue) continue;
      auto& list = out[static_cast<size_t>(id)];
      if (list.empty() || list.back() != static_cast<int>(n)) list.push_back(static_cast<int>(n));
    }
  }
  return out;
}

bool Graph::is_output(ValueId id) const { return std::find(outputs.begin(), outputs.end(), id) != outputs.end(); }

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::compact() {
  std::erase_if(nodes, [](const Node& n) { return !n.op; });
}

void Graph::sort() {
  compact();
  const std::vector<int> made_by = producers();
  std::vector<int> missing(nodes.size(), 0);
  std::vector<std::vector<int>> readers(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (ValueId id : nodes[n].inputs) {
      const int from = id == kNoValue ? -1 : made_by[static_cast<size_t>(id)];
      if (from < 0) continue;
      readers[static_cast<size_t>(from)].push_back(static_cast<int>(n));
      ++missing[n];
    }
  }
  std::vector<int> heap;  // ready nodes, smallest index first: the order stays as near to the given one as it can
  const auto later = std::greater<>();
  for (size_t n = 0; n < nodes.size(); ++n)
    if (missing[n] == 0) heap.push_back(static_cast<int>(n));
  std::make_heap(heap.begin(), heap.end(), later);
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const auto n = static_cast<size_t>(heap.back());
    heap.pop_back();
    sorted.push_back(std::move(nodes[n]));
    for (int r : readers[n]) {
      if (--missing[static_cast<size_t>(r)] > 0) continue;
      heap.push_back(r);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  if (sorted.size() != nodes.size()) {
    const size_t stuck = static_cast<size_t>(std::find_if(missing.begin(), missing.end(), [](int m) { return m > 0; }) -
                                             missing.begin());
    throw Error(ErrorCode::invalid_model,
                fmt::format("graph: node '{}' ({}) is part of a cycle; a model's nodes must form no cycle",
                            nodes[stuck].name, nodes[stuck].op->name));
  }
  nodes = std::move(sorted);
}

Graph Graph::deep_copy() const {
  Graph copy = *this;
  for (Node& node : copy.nodes)
    for (auto& body : node.bodies) body = std::make_shared<Graph>(body->deep_copy());
  return copy;
}

namespace {

[[noreturn]] void broken(const std::string& what) { throw Error(ErrorCode::invalid_model, "graph: " + what); }

void verify_arity(const Node& node) {
  const OpDef& op = *node.op;
  const int in = static_cast<int>(node.inputs.size()) - node.captures, out = static_cast<int>(node.outputs.size());
  if (in < op.min_inputs || (op.max_inputs >= 0 && in > op.max_inputs))
    broken(fmt::format("node '{}' ({}) has {} inputs; it takes {} to {}", node.name, op.name, in, op.min_inputs,
                       op.max_inputs < 0 ? std::string("any number") : std::to_string(op.max_inputs)));
  if (out < op.min_outputs || (op.max_outputs >= 0 && out > op.max_outputs))
    broken(fmt::format("node '{}' ({}) has {} outputs; it gives {} to {}", node.name, op.name, out, op.min_outputs,
                       op.max_outputs < 0 ? std::string("any number") : std::to_string(op.max_outputs)));
}

}  // namespace

void Graph::verify() const {
  const auto size = static_cast<ValueId>(values.size());
  std::vector<char> ready(values.size(), 0);
  const auto check_id = [&](ValueId id, const std::string& where) {
    if (id < 0 || id >= size) broken(fmt::format("{} names value {}, which does not exist", where, id));
  };
  for (size_t i = 0; i < values.size(); ++i) ready[i] = values[i].constant.defined();
  for (ValueId id : inputs) {
    check_id(id, "an input");
    ready[static_cast<size_t>(id)] = 1;
  }
  for (const Node& node : nodes) {
    if (!node.op) continue;
    verify_arity(node);
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      check_id(id, "node '" + node.name + "'");
      if (!ready[static_cast<size_t>(id)])
        broken(fmt::format("node '{}' ({}) reads '{}', which nothing before it makes", node.name, node.op->name,
                           value(id).name));
    }
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      check_id(id, "node '" + node.name + "'");
      if (ready[static_cast<size_t>(id)])
        broken(fmt::format("node '{}' ({}) makes '{}', which something else already made", node.name, node.op->name,
                           value(id).name));
      ready[static_cast<size_t>(id)] = 1;
    }
    for (const auto& body : node.bodies) body->verify();
  }
  for (ValueId id : outputs) {
    check_id(id, "an output");
    if (!ready[static_cast<size_t>(id)]) broken(fmt::format("output '{}' is made by nothing", value(id).name));
  }
}

}  // namespace trine
