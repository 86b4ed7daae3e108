// What flows through a graph becomes f16 or bf16, for machines that multiply halves: convolutions, products, attention
// and pools read and write it; elementwise groups, norms and softmax read and write it and compute in f32 between; what
// moves elements moves halves. Weights are converted here. The graph's inputs and outputs keep their types, and so do
// biases, attention masks, sums, powers and exponentials. Comes after fuse_groups: a group's body gets the casts.
//
// A product reads f32 where a weight has no place in f16 (beyond 65504, or none above 2^-14), or where it is asked to.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace trine {

// A node that could read halves and does not.
struct KeptNode {
  std::string node, reason;
  friend bool operator==(const KeptNode&, const KeptNode&) = default;
};

struct HalvesOptions {
  DType half = DType::f16;          // or bf16
  std::set<std::string> keep = {};  // names of nodes that shall read f32 as it was computed
};

// Bodies of control flow are left alone. Types must be inferred. Returns whether anything changed; `kept` (may be null)
// gets nodes that `keep` does not name.
bool use_halves(Graph& graph, const HalvesOptions& options, std::vector<KeptNode>* kept = nullptr);

// Names of the nodes that use_halves would let read halves, in order: what `keep` may name.
std::vector<std::string> readers_of_halves(const Graph& graph);

}  // namespace trine
