// Forest: decision trees in flat form, shared by TreeEnsemble and the two older operators.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace trine::ml {

struct Forest {
  enum class Mode : uint8_t { less_equal, less, greater_equal, greater, equal, not_equal, member, leaf };
  struct Node {
    Mode mode = Mode::leaf;
    int64_t feature = 0;
    double split = 0;
    bool nan_is_true = false;
    int64_t yes = 0, no = 0;      // node indices
    int64_t first = 0, last = 0;  // of a leaf: its votes
    std::set<double> members;
  };
  struct Vote {
    int64_t target;
    double weight;
  };

  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<Vote> votes;
  int64_t features = 0;  // one more than the largest feature used

  // Throws Error{invalid_model} for a child, feature or target out of range, and for a cycle.
  void check(int64_t targets);
  const Node& leaf(int64_t root, const double* row) const;
};

enum class Aggregate : uint8_t { average, sum, min, max };

// scores[t] = base[t] + aggregate over trees of the votes for t; `base` is empty or has one entry per target.
void evaluate(const Forest& forest, Aggregate how, const std::vector<double>& base, const double* row,
              std::vector<double>& scores);

}  // namespace trine::ml
