// Pass cases: two graphs as text, and the passes that make the second of the first.
//
//   # why this matters
//   passes: simplify, share_equal
//   before
//   graph(%x: f32[N,4]) { ... }
//   after
//   graph(%x: f32[N,4]) { ... }
//
// Names in `after` are free, and so are the types of its inner values. Float constants of more than one element compare
// by type alone: that the numbers are right shows when both graphs are run.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "trine/base/tensor.h"

namespace trine::testing {

struct PassCase {
  std::string file, why;
  std::vector<std::string> passes;
  Graph before, after;
};

PassCase read_case(const std::string& path);

// The text of a graph after renaming its inner values in order and inferring its types.
std::string canonical_text(Graph graph);

// Random inputs for `graph` with its symbols bound as given. Integers lie in [0, 4), floats are normal.
using Symbols = std::vector<std::pair<std::string, int64_t>>;
std::vector<std::string> symbols_of(const Graph& graph);
std::vector<Datum> random_inputs(const Graph& graph, const Symbols& symbols, uint64_t seed);

// Empty when the outputs agree. Each node rounds once to its type, so n nodes may move a result by n units in the last
// place of the largest magnitude around: |a - b| <= eps(type) * n * max(max|a|, largest intermediate below 100).
std::string difference(const Graph& before, const Graph& after, const std::vector<Datum>& inputs);

}  // namespace trine::testing
