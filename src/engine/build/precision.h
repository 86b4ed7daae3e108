// --precision on devices: what flows becomes halves, and which layers stay in fp32, found by measuring.
#pragma once

#include <map>

#include "dnn/kernel_row.h"
#include "graph/graph.h"
#include "trine/engine/build.h"

namespace trine {

struct PrecisionReport {
  DType half = DType::none;                 // none: all stays f32
  std::map<std::string, std::string> kept;  // nodes that stay in fp32, and why
  std::optional<double> error;              // measured: of the outputs, relative to the largest value of each
  size_t readers = 0;                       // nodes that could read halves
  std::string problem;                      // why nothing could be measured; empty: it was, or need not be
};

// `graph`, optimised for a device and all f32, becomes one of halves, bodies of control flow too.
PrecisionReport narrow_graph(Graph& graph, DType half);

// The same, f16 or bf16, with as many layers in fp32 as it takes for the error to be at most `tolerance`. Measured on
// the CPU on random inputs of `types`: the graph with halves beside the graph in f32. Layers are tried alone (in
// blocks, where each alone would take too long); those of the largest error stay in fp32 first.
PrecisionReport narrow_within(Graph& graph, const std::vector<Type>& types, const dnn::Limits& limits,
                              double tolerance);

}  // namespace trine
