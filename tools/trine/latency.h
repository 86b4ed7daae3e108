// Run times: collected in milliseconds, summed up as the JSON that `bench` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace trine::cli {

struct Latency {
  double median = 0, p10 = 0, p90 = 0, p99 = 0;
  size_t n = 0;
};

// Percentiles by linear interpolation between the two nearest values; all 0 for no samples.
Latency summarise(std::vector<double> milliseconds);
nlohmann::ordered_json to_json(const Latency& latency);

}  // namespace trine::cli
