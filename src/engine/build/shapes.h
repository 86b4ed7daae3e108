// User-given input sizes applied to a graph: fixed sizes become constants, bounds belong to a symbol.
#pragma once

#include "graph/graph.h"
#include "trine/engine/ranges.h"

namespace trine {

// Changes the graph's input types; returns the bounds of each symbol that stays. Throws Error{invalid_argument}
// for an unknown input, a wrong rank, a size that contradicts the model or what is neither size, name nor range.
SymbolRanges apply_shapes(Graph& graph, const std::map<std::string, std::vector<std::string>>& shapes);

}  // namespace trine
