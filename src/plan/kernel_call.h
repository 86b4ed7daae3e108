// From a node with known sizes to what it asks of dnn: problems, and which operand plays which role.
#pragma once

#include <functional>

#include "base/float_formats.h"
#include "graph/graph.h"
#include "trine/dnn/problem.h"

namespace trine {

// One run of a kernel row. Operands are positions in the node's inputs and outputs, -1: none. Args in dnn/kernel_row.h
// says what each place means to each kind of problem.
struct KernelCall {
  dnn::Problem problem;
  std::vector<int> in;
  std::vector<int> out{0};
  int bias = -1;
  int residual = -1;
  std::vector<int> weights;     // inputs to prepack; all constant
  int64_t in_offset_bytes = 0;  // added to in[0] and out[0]
  int64_t out_offset_bytes = 0;
};

// What kernel_calls may ask about the node's operands. Types are static tensors, or none for absent ones.
struct NodeTypes {
  std::vector<Type> inputs, outputs;
  std::vector<Tensor> constants;  // of each input; !defined() when it is not constant

  bool has(size_t i) const { return i < inputs.size() && inputs[i].is_tensor(); }
  bool is_f32(size_t i) const { return has(i) && inputs[i].dtype == DType::f32; }
  bool is_half_or_f32(size_t i) const { return has(i) && trine::is_half_or_f32(inputs[i].dtype); }
  Dims in_dims(size_t i) const { return inputs[i].shape.static_dims(); }
  Dims out_dims(size_t i) const { return outputs[i].shape.static_dims(); }
};

// The calls that together compute the node; empty when dnn has no kind of problem for it (with these attributes, types
// and operands).
std::vector<KernelCall> kernel_calls(const Node& node, const NodeTypes& types);

// Whether an operator can ever have kernel calls, whatever the sizes.
bool has_kernel_calls(std::string_view op_name);

}  // namespace trine
