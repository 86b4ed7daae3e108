// Every pass, one file each. What they do in detail is said there; the order, and why, in pipeline.cc.
#pragma once

#include "graph/graph.h"

namespace trine {

bool fold_constants(Graph& graph);
bool inline_branches(Graph& graph);
bool simplify(Graph& graph);
bool share_equal(Graph& graph);
bool fix_shapes(Graph& graph);

}  // namespace trine
