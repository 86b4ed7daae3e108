// A graph as public data (trine/engine/inspect.h).
#pragma once

#include "graph/graph.h"
#include "trine/engine/inspect.h"

namespace trine {

GraphInfo graph_info(const Graph& graph);

}  // namespace trine
