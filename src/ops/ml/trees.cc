#include "ops/ml/trees.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trine/base/error.h"

namespace trine::ml {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::invalid_model, "tree ensemble: " + what); }

bool goes_yes(const Forest::Node& n, double x) {
  if (std::isnan(x)) return n.nan_is_true;
  switch (n.mode) {
    using enum Forest::Mode;
    case less_equal: return x <= n.split;
    case less: return x < n.split;
    case greater_equal: return x >= n.split;
    case greater: return x > n.split;
    case equal: return x == n.split;
    case not_equal: return x != n.split;
    default: return n.members.contains(x);
  }
}

// Depth-first with colours: 0 new, 1 on the path, 2 done.
void check_acyclic(const Forest& forest) {
  std::vector<uint8_t> colour(forest.nodes.size(), 0);
  for (int64_t root : forest.roots) {
    std::vector<int64_t> stack{root};
    while (!stack.empty()) {
      const auto at = static_cast<size_t>(stack.back());
      const Forest::Node& n = forest.nodes[at];
      if (colour[at] != 0 || n.mode == Forest::Mode::leaf) {
        colour[at] = 2;
        stack.pop_back();
        continue;
      }
      colour[at] = 1;
      for (int64_t child : {n.yes, n.no}) {
        if (colour[static_cast<size_t>(child)] == 1) fail("node " + std::to_string(child) + " is its own ancestor");
        if (colour[static_cast<size_t>(child)] == 0) stack.push_back(child);
      }
    }
  }
}

}  // namespace

void Forest::check(int64_t targets) {
  const auto count = static_cast<int64_t>(nodes.size());
  const auto inside = [&](int64_t i) { return i >= 0 && i < count; };
  for (int64_t root : roots)
    if (!inside(root)) fail("root " + std::to_string(root) + " outside [0, " + std::to_string(count - 1) + "]");
  for (const Node& n : nodes) {
    if (n.mode == Mode::leaf) continue;
    if (!inside(n.yes) || !inside(n.no)) fail("a child lies outside [0, " + std::to_string(count - 1) + "]");
    if (n.feature < 0 || n.feature > (int64_t{1} << 40))
      fail("feature " + std::to_string(n.feature) + "; it must be >= 0");
    features = std::max(features, n.feature + 1);
  }
  for (const Vote& v : votes)
    if (v.target < 0 || v.target >= targets)
      fail("target " + std::to_string(v.target) + " outside [0, " + std::to_string(targets - 1) + "]");
  check_acyclic(*this);
}

const Forest::Node& Forest::leaf(int64_t root, const double* row) const {
  const Node* at = &nodes[static_cast<size_t>(root)];
  while (at->mode != Mode::leaf) at = &nodes[static_cast<size_t>(goes_yes(*at, row[at->feature]) ? at->yes : at->no)];
  return *at;
}

void evaluate(const Forest& forest, Aggregate how, const std::vector<double>& base, const double* row,
              std::vector<double>& scores) {
  std::vector<bool> voted(scores.size(), false);
  std::fill(scores.begin(), scores.end(), 0.0);
  for (int64_t root : forest.roots) {
    const Forest::Node& leaf = forest.leaf(root, row);
    for (int64_t i = leaf.first; i < leaf.last; ++i) {
      const Forest::Vote& v = forest.votes[static_cast<size_t>(i)];
      double& score = scores[static_cast<size_t>(v.target)];
      const bool first = !voted[static_cast<size_t>(v.target)];
      if (how == Aggregate::min) score = first ? v.weight : std::min(score, v.weight);
      else if (how == Aggregate::max) score = first ? v.weight : std::max(score, v.weight);
      else score += v.weight;
      voted[static_cast<size_t>(v.target)] = true;
    }
  }
  for (size_t t = 0; t < scores.size(); ++t) {
    if (how == Aggregate::average && !forest.roots.empty()) scores[t] /= static_cast<double>(forest.roots.size());
    if (!base.empty()) scores[t] += base[base.size() == scores.size() ? t : 0];
  }
}

}  // namespace trine::ml
