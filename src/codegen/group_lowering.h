// Lowers the values of one graph, by demand: an output's element asks its operator's rule, which asks for elements of
// its inputs, down to the graph's inputs.
#pragma once

#include "codegen/expressions.h"
#include "codegen/lower.h"

namespace trine::codegen {

class GroupLowering {
 public:
  // `unify`: folds over equal boxes, and loops of the output that equal them, share loops, so that a value which
  // several of them compute is recognised as the same.
  GroupLowering(const Graph& body, bool unify);

  Expressions& expressions() { return e_; }
  // Element `index` of a value, in its compute type; loads under `mask` (-1: none) read nothing where it is false.
  Scalar element(ValueId value, const Index& index, Scalar mask);
  // The output's loops, in order; dimensions of 1 have none.
  void set_output_loops(std::vector<int> loops) { output_loops_ = std::move(loops); }
  Scalar reduce(Reduce kind, const std::vector<Dim>& extents, const std::function<Scalar(const Index&)>& body);
  int operand_of(ValueId value);
  const Graph& graph() const { return graph_; }

 private:
  Scalar compute(ValueId value, const Index& index, Scalar mask);
  std::optional<Scalar> over_loops(Reduce kind, Scalar value, const std::vector<int>& from, const std::vector<int>& to);

  const Graph& graph_;
  const bool unify_;
  std::vector<int> producers_;
  std::vector<int> input_of_;  // per value: position among the graph's inputs, or -1
  Expressions e_;
  std::vector<int> output_loops_;
  std::vector<std::vector<int>> boxes_;  // loops of folds that found no output loops to share
  std::map<std::tuple<ValueId, Index, int>, Scalar> known_;
  int depth_ = 0;
};

}  // namespace trine::codegen
