// The order in which a graph's nodes are converted.
#pragma once

#include <vector>

#include "import/onnx/proto.h"

namespace trine::onnx {

// Indices of `nodes` such that every node comes after those whose outputs it, or a graph in its attributes, reads; the
// file's order where that is one. Throws Error{invalid_model} naming the nodes of a cycle.
std::vector<size_t> execution_order(const std::vector<ProtoNode>& nodes);

}  // namespace trine::onnx
