#include "plan/likely_sizes.h"

#include <algorithm>

#include "graph/infer.h"
#include "plan/plan.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using Sizes = std::map<std::string, int64_t>;

// Batches and flags; heights of text lines; pictures; frames of speech at 8 and 16 kHz.
constexpr int64_t kUsual[] = {1, 2, 32, 48, 64, 128, 224, 256, 320, 512, 640, 288, 576, 1024};
constexpr size_t kMostTries = 200, kMostNodes = 200000;  // nodes: of all tries together

std::vector<Type> types_with(const Graph& graph, Sizes& sizes) {
  std::vector<Type> types;
  for (ValueId id : graph.inputs) {
    Type type = graph.type(id);
    for (int i = 0; type.is_tensor() && type.shape.has_rank() && i < type.shape.rank(); ++i) {
      type.shape[i] = type.shape[i].substitute([&](std::string_view symbol) -> std::optional<Dim> {
        return Dim(sizes.emplace(std::string(symbol), i == 0 ? 1 : 256).first->second);
      });
    }
    types.push_back(std::move(type));
  }
  return types;
}

size_t infers(const Graph& graph, const std::vector<Type>& types) {
  Graph typed = graph.deep_copy();
  for (size_t i = 0; i < types.size(); ++i) typed.value(typed.inputs[i]).type = types[i];
  for (size_t n = 0; n < typed.nodes.size(); ++n) {
    try {
      infer_node(typed, typed.nodes[n]);
    } catch (const Error&) {
      return n;
    }
  }
  return kAllWork;
}

class Search {
 public:
  Search(const Graph& graph, const Sizes& given, const Progress& progress)
      : graph_(graph),
        given_(given),
        progress_(progress),
        left_(std::min(kMostTries, kMostNodes / (graph.nodes.size() + 1))) {}

  std::vector<Type> run() {
    Sizes best = given_;  // a symbol has one size, wherever it stands
    std::vector<Type> types = types_with(graph_, best);
    if (best.size() == given_.size()) return types;
    best_ = progress_(types);
    while (best_ != kAllWork && left_ > 0 && improve(best)) {
    }
    return types_with(graph_, best);
  }

 private:
  // Tries other sizes for each symbol that is free; keeps what gets furthest.
  bool improve(Sizes& best) {
    bool better = false;
    const Sizes start = best;
    for (const auto& [symbol, size] : start) {
      if (given_.contains(symbol)) continue;
      for (const int64_t usual : kUsual) {
        if (usual == best[symbol]) continue;
        if (left_ == 0) return better;
        --left_;
        Sizes trial = best;
        trial[symbol] = usual;
        const size_t reached = progress_(types_with(graph_, trial));
        if (reached <= best_) continue;
        best = std::move(trial);
        best_ = reached;
        better = true;
        if (best_ == kAllWork) return true;
      }
    }
    return better;
  }

  const Graph& graph_;
  const Sizes& given_;
  const Progress& progress_;
  size_t left_;      // tries
  size_t best_ = 0;  // nodes that work
};

}  // namespace

std::vector<Type> likely_inputs(const Graph& graph, const Sizes& given, const Progress& progress) {
  return Search(graph, given, progress).run();
}

std::vector<Type> representative_inputs(const Graph& graph, const Sizes& given) {
  return likely_inputs(graph, given, [&](const std::vector<Type>& types) { return infers(graph, types); });
}

}  // namespace trine
