// Rewriter: how a pass reads and edits a graph. It holds the nodes at fixed addresses, keeps makers and readers up to
// date through every edit, erases what an edit leaves without readers, and in finish() puts the rest in order.
//
//   Rewriter r(graph);
//   for (int n = 0; n < r.size(); ++n)                          // x + 0 -> x
//     if (r.is(n, "add") && is_zero(r.node(n).inputs[1])) r.replace(r.output(n), r.node(n).inputs[0]);
//   return r.finish();
#pragma once

#include <deque>
#include <optional>
#include <unordered_set>

#include "graph/graph.h"
#include "graph/infer.h"

namespace trine {

class Rewriter {
 public:
  explicit Rewriter(Graph& graph);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // Nodes made by add() come at the end: a loop up to size() sees them too. An erased node is none of any operator.
  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int n) const { return nodes_[static_cast<size_t>(n)]; }
  bool is(int n, std::string_view op) const { return n >= 0 && node(n).is(op); }
  ValueId input(int n, int i) const;  // kNoValue when absent
  ValueId output(int n) const { return node(n).outputs[0]; }

  const Graph& graph() const { return graph_; }
  const Type& type(ValueId v) const { return graph_.type(v); }
  const Shape& shape(ValueId v) const { return graph_.type(v).shape; }
  DType dtype(ValueId v) const { return graph_.type(v).dtype; }
  int rank(ValueId v) const;  // -1 when unknown or no tensor
  bool is_constant(ValueId v) const { return graph_.is_constant(v); }
  const Tensor& constant(ValueId v) const { return graph_.value(v).constant; }

  int maker(ValueId v) const;  // node that makes v; -1 for inputs, constants and kNoValue
  // The node that makes v when it is `op`, v being its first output; else -1.
  int made_by(ValueId v, std::string_view op) const;
  const std::vector<int>& readers(ValueId v) const;  // a node that reads v twice is listed twice
  bool is_output(ValueId v) const { return output_uses_[static_cast<size_t>(v)] > 0; }
  bool used_once(ValueId v) const { return readers(v).size() == 1 && !is_output(v); }

  // The value of a constant whose elements are all the same; nothing else.
  std::optional<double> number(ValueId v) const;
  // For a node with two inputs of which one is such a constant: the other input and the number.
  struct WithNumber {
    ValueId value;
    double number;
    int at;  // which input the number is
  };
  std::optional<WithNumber> with_number(int n) const;
  // The input of binary node n that is not v (either, when both are).
  ValueId other_input(int n, ValueId v) const;
  // An integer list given as attribute or, in newer operators, as constant input `i`.
  std::optional<std::vector<int64_t>> integers(int n, int i) const;

  ValueId add_constant(Tensor tensor, std::string name = "");
  // New node; its outputs' types are inferred at once. `stands_for`: nodes whose sources it takes over.
  ValueId add(std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}, std::vector<int> stands_for = {},
              int output_count = 1);
  // Makes n another operator; its outputs stay the values they are.
  void rewrite(int n, std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {},
               std::vector<int> stands_for = {});
  void set_inputs(int n, std::vector<ValueId> inputs);
  void set_attr(int n, std::string name, AttrValue value);
  void erase_attr(int n, std::string_view name);
  // Inputs from `formal` on are captures.
  void set_captured(int n, std::vector<ValueId> inputs, size_t formal);
  // Whoever reads `from` reads `to`. A graph output keeps its name: false, and nothing happens, where it cannot (both
  // are graph outputs, or `to` is a graph input or a constant).
  bool replace(ValueId from, ValueId to);
  // As replace, but where the name of a graph output is in the way an identity node gives it.
  void define(ValueId v, ValueId as);
  // A new node makes v, which its former maker no longer does.
  void make(ValueId v, std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {});
  // Makes v, an output of some node, a constant.
  void make_constant(ValueId v, Tensor tensor);
  void erase(int n);
  // One node with a body takes the place of `nodes` and makes `outputs`, some of theirs.
  void fuse(const std::vector<int>& nodes, std::string_view op, std::vector<ValueId> inputs,
            std::vector<ValueId> outputs, std::shared_ptr<Graph> body);
  // Copies another graph's nodes in; `inputs` stand for its inputs. Returns the values of its outputs.
  std::vector<ValueId> inline_graph(const Graph& body, const std::vector<ValueId>& inputs);
  // Infers the types of n's outputs again, after an edit that changed them.
  void infer(int n);

  // Must be called last: hands the nodes back. Returns whether anything was edited.
  bool finish();

 private:
  void grow();
  std::string unique_name(std::string_view after = "");  // "after@1": what a value was before it was rewritten
  void link(int n);
  void unlink(int n);
  void drop_unread(std::vector<ValueId> values);
  void release(ValueId v);
  void take_sources(Node& into, const std::vector<int>& from);
  std::vector<int> live_order() const;
  void drop_values();

  Graph& graph_;
  std::deque<Node> nodes_;
  std::vector<int> makers_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> output_uses_;
  std::unordered_set<std::string> names_;  // filled when the first name is needed
  bool changed_ = false;
};

// The shape that expand n is given holds no size of which only run time can tell whether n's input can take it. (A
// fixed size meets an open one of the input again in expand_to, which checks it.)
bool expands_for_sure(const Rewriter& r, int n);

// All elements of a constant are equal to this number, bit pattern of the sign included (so -0 is not 0).
bool all_equal(const Tensor& t, double value);

}  // namespace trine
