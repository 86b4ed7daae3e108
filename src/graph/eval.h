// The reference interpreter: runs a graph through each operator's `reference`. Slow and exact: the oracle for every
// kernel, fusion and backend.
#pragma once

#include <functional>

#include "graph/graph.h"

namespace trine {

class EvalContext {
 public:
  using RunBody = std::function<std::vector<Datum>(const Graph& body, std::vector<Datum> inputs)>;

  EvalContext(const Node& node, std::vector<Datum> inputs, RunBody run_body);

  const Node& node() const { return node_; }
  const Attrs& attrs() const { return node_.attrs; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has(int i) const;
  bool wants(int i) const;  // output i is asked for
  const Datum& datum(int i) const;
  const Tensor& tensor(int i) const;  // throws Error when absent or no tensor
  void set(int output, Datum value);  // ignored for an output nobody asked for
  std::vector<Datum> run_body(int k, std::vector<Datum> inputs) const;
  int axis(int64_t axis, int rank, std::string_view what = "axis") const;
  // i in [-n, n) -> [0, n); else an Error that gives both bounds. Every index that comes from data goes through here.
  int64_t checked_index(int64_t i, int64_t n, std::string_view what = "index") const;
  [[noreturn]] void fail(const std::string& message) const;
  std::vector<Datum>& outputs() { return outputs_; }

 private:
  const Node& node_;
  std::vector<Datum> inputs_;
  std::vector<Datum> outputs_;
  RunBody run_body_;
};

// Runs the node's reference; a lack of memory is an Error too. `outputs`: the types of its outputs as far as they are
// known, so that results too large for the machine are refused before anything is computed.
void run_reference(EvalContext& context, const std::vector<const Type*>& outputs = {});
// Runs one node, or a whole graph, by reference. Throws Error naming the node.
std::vector<Datum> evaluate_node(const Node& node, std::vector<Datum> inputs);
std::vector<Datum> evaluate(const Graph& graph, std::vector<Datum> inputs);
// As evaluate, calling `see(value, datum)` for every value made, in order.
std::vector<Datum> evaluate(const Graph& graph, std::vector<Datum> inputs,
                            const std::function<void(ValueId, const Datum&)>& see);

// The type that a datum has.
Type type_of(const Datum& datum);

}  // namespace trine
