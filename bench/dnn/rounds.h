// Measures several parties on one problem so that the comparison is fair: their rounds alternate, each round begins
// with a pause that lets the other's threads fall asleep, the first run of a round is not counted, and medians are
// taken.
#pragma once

#include <functional>
#include <vector>

namespace trine::bench {

struct Samples {
  std::vector<double> seconds;
  double median() const;
  double least() const;
};

// `seconds` is each party's share.
std::vector<Samples> measure_rounds(const std::vector<std::function<void()>>& parties, double seconds, int threads);

double timed(const std::function<void()>& run);

}  // namespace trine::bench
