// GraphWriter: a graph under construction. Gives values unique names and infers the type of each node as it is added,
// so that rewrites of old operators see the ranks of what they rewrite.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "trine/base/error.h"

namespace trine::onnx {

class BudgetExceeded : public Error {
 public:
  using Error::Error;
};

// How many values and nodes a model may still become: functions and captured values must not blow a small file up.
class Budget {
 public:
  explicit Budget(int64_t objects) : left_(objects) {}
  void take(int64_t objects = 1);  // throws BudgetExceeded

 private:
  int64_t left_;
};

inline Type unknown_type() { return Type::tensor(DType::none, Shape()); }

class GraphWriter {
 public:
  // Without `strict`, a node that cannot be inferred is no error yet: the types of a body's inputs are not known before
  // its operator is inferred.
  GraphWriter(Budget& budget, bool strict) : budget_(budget), strict_(strict) {}

  Graph graph;

  ValueId add_value(std::string_view name, Type type = unknown_type());
  ValueId add_constant(Tensor tensor, std::string_view name = "");
  ValueId add_input(std::string_view name, Type type);
  void rename(ValueId id, const std::string& name);  // whoever has the name gets another
  // Appends the node and infers its outputs. A wrong node throws Error, but stays, its outputs of unknown type.
  void append(Node node);
  // Appends a node of one output.
  ValueId apply(std::string_view onnx_op, std::vector<ValueId> inputs, Attrs attrs = {});

  const Type& type(ValueId id) const { return graph.type(id); }
  const Tensor& constant(ValueId id) const;  // not defined() when absent or no constant
  // A value whose type is unknown because something before it went wrong: what reads it is not to blame.
  bool is_doubtful(ValueId id) const { return id != kNoValue && doubtful_.contains(id); }
  void doubt(ValueId id) { doubtful_.insert(id); }
  Budget& budget() { return budget_; }

 private:
  Budget& budget_;
  bool strict_;
  std::unordered_set<std::string> names_;
  std::unordered_set<ValueId> doubtful_;
};

}  // namespace trine::onnx
