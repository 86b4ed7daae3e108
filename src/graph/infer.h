// Shape inference: runs each node's rule over symbolic shapes, in order, bodies included.
#pragma once

#include "graph/graph.h"

namespace trine {

// What an OpDef's infer sees. Input i is "absent" when beyond the list or kNoValue.
class InferContext {
 public:
  InferContext(Graph& graph, Node& node) : graph_(graph), node_(node) {}

  const Node& node() const { return node_; }
  const Attrs& attrs() const { return node_.attrs; }
  int input_count() const { return static_cast<int>(node_.inputs.size()); }
  int output_count() const { return static_cast<int>(node_.outputs.size()); }
  bool has(int i) const;
  bool wants(int i) const;         // output i is asked for
  const Type& input(int i) const;  // Type{} when absent
  DType dtype(int i) const { return input(i).dtype; }
  const Shape& shape(int i) const { return input(i).shape; }  // unknown rank when absent
  Tensor constant(int i) const;                               // !defined() when not a known constant
  std::optional<std::vector<Dim>> content(
      int i) const;  // elements of an integer or boolean tensor, constant or symbolic
  std::optional<std::vector<int64_t>> integers(int i) const;  // content, when all are constants

  void set(int output, Type type);  // ignored for an output nobody asked for
  void set(int output, DType dtype, Shape shape) { set(output, Type::tensor(dtype, std::move(shape))); }
  void set_content(int output, std::vector<Dim> content);
  Dim fresh(std::string_view hint = "u");  // a new symbol: a size known only at run time
  Shape fresh_shape(int rank);

  // Infers body `k` for these input types; returns its output types.
  std::vector<Type> infer_body(int k, std::vector<Type> input_types);

  // Checks that throw Error naming op, node, and what was got.
  void need_rank(int i, int rank) const;  // unknown rank passes
  void need_rank_at_least(int i, int rank) const;
  int axis(int64_t axis, int rank, std::string_view what = "axis") const;  // [-rank, rank-1] -> [0, rank)
  [[noreturn]] void fail(const std::string& message) const;                // "softmax: axis 2 outside ..."

 private:
  Graph& graph_;
  Node& node_;
  int fresh_count_ = 0;
};

// The elements of a constant given as a list of axes, sizes or positions: integers or booleans, of rank 0 or 1, and not
// too many. Rules, passes and lowerings read such inputs through this: the last two see nothing that the first has not.
std::optional<std::vector<int64_t>> list_of(const Tensor& constant);

// Broadcasts NumPy-style; a mismatch of constants throws Error{invalid_model} with both shapes.
Shape broadcast(const Shape& a, const Shape& b);

// Sets the types of all values from those of the inputs; fails with one Error that lists every wrong node. Types that
// the values had before are ignored: a model's own declarations are hints at best.
void infer_shapes(Graph& graph);
void infer_node(Graph& graph, Node& node);

// Rules shared by many operators.
void infer_same_as_first(InferContext& c);   // dtype and shape of input 0
void infer_broadcast(InferContext& c);       // dtype of input 0, all inputs broadcast
void infer_broadcast_bool(InferContext& c);  // boolean, all inputs broadcast

}  // namespace trine
