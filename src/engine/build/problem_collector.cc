#include "engine/build/problem_collector.h"

#include <algorithm>

namespace trine {

std::string ProblemCollector::choose(const Plan& plan, std::string_view chosen, Call& call) const {
  constexpr double kByte = 100;
  const dnn::Problem& problem = call.what.problem;
  const auto same = [&](const auto& entry) { return entry.first == problem; };
  auto it = std::find_if(problems_.begin(), problems_.end(), same);
  if (it == problems_.end()) it = problems_.emplace(problems_.end(), problem, 0);
  it->second += dnn::flops(problem) + kByte * dnn::bytes(problem);
  return target_.choose(plan, chosen, call);
}

std::vector<dnn::Problem> ProblemCollector::heaviest_first() const {
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<dnn::Problem> out;
  for (auto& [problem, weight] : sorted) out.push_back(std::move(problem));
  return out;
}

}  // namespace trine
