#include "latency.h"

#include <algorithm>
#include <cmath>

namespace trine::cli {

Latency summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto percentile = [&](double p) {
    const double at = p * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<size_t>(at);
    const size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (samples[above] - samples[below]) * (at - std::floor(at));
  };
  return {percentile(0.5), percentile(0.1), percentile(0.9), percentile(0.99), samples.size()};
}

nlohmann::ordered_json to_json(const Latency& latency) {
  const auto rounded = [](double ms) { return std::round(ms * 1e6) / 1e6; };
  return {{"median", rounded(latency.median)},
          {"p10", rounded(latency.p10)},
          {"p90", rounded(latency.p90)},
          {"p99", rounded(latency.p99)},
          {"n", latency.n}};
}

}  // namespace trine::cli
