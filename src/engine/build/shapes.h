// User-given input sizes applied to a graph: fixed sizes become constants, bounds name a symbol's likely value.
#pragma once

#include "graph/graph.h"

namespace trine {

// Changes the graph's input types; returns the likely value of each symbol that stays. Throws Error{invalid_argument}
// for an unknown input, a wrong rank or a size that contradicts the model.
std::map<std::string, int64_t> apply_shapes(Graph& graph, const std::map<std::string, std::vector<std::string>>& shapes);

}  // namespace trine
