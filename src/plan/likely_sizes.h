// Sizes for symbols that nobody gave a size. Open sizes of a model seldom are free: the height that a text recogniser
// was made for, the state that must have the batch's size. What the model does with a guess tells a good one from a bad
// one.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "graph/graph.h"

namespace trine {

// How many nodes work with inputs of these types; kAllWork: every one.
using Progress = std::function<size_t(const std::vector<Type>&)>;
constexpr size_t kAllWork = SIZE_MAX;

// The graph's input types with a size for every symbol: `given`, else 1 for a batch dimension and 256 elsewhere, else
// what lets most nodes work, found one symbol after the other among usual sizes.
std::vector<Type> likely_inputs(const Graph& graph, const std::map<std::string, int64_t>& given,
                                const Progress& progress);

}  // namespace trine
