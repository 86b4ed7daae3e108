// How far rounding alone may move a result: the reference runs once more with every float that flows off by at most one
// unit in the last place, chosen at random. Where large terms cancel (a variance as E[x^2] - E[x]^2) the result is
// small and the noise is that of the terms, so that a tolerance by the result's size alone would blame a right kernel.
#pragma once

#include <vector>

#include "graph/eval.h"

namespace trine {

// For each output the largest change; 0 where the graph jumps (floor, comparisons, indices): there a change says
// nothing.
std::vector<double> rounding_noise(const Graph& graph, const std::vector<Datum>& inputs,
                                   const std::vector<Datum>& want);
std::vector<double> rounding_noise(const Node& node, const std::vector<Datum>& inputs, const std::vector<Datum>& want);

}  // namespace trine
