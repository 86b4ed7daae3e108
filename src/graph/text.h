// The text form of graphs, attributes and tensors: what `inspect --graph` prints and pass tests are written in.
#pragma once

#include "graph/graph.h"

namespace trine {

// Constants of more than this many elements print as `{...}`, which cannot be read back.
constexpr int64_t kPrintedElements = 64;

std::string attrs_text(const Attrs& attrs);            // {axis=1, pads=[1,1]}; empty for none
std::string tensor_text(const Tensor& tensor);         // f32[2]{1,2.5}
std::string value_name_text(const std::string& name);  // %x, or %"odd name"
std::string node_text(const Graph& graph, const Node& node, int indent = 0);

}  // namespace trine
