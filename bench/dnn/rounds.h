// Measures several parties on one problem so that the comparison is fair: their rounds alternate, where another
// library's turn begins a pause lets the threads of the last one fall asleep, the first run of a round is not counted,
// and medians are taken.
#pragma once

#include <functional>
#include <vector>

namespace trine::bench {

struct Samples {
  std::vector<double> seconds;
  double median() const;
  double least() const;
};

struct Party {
  std::function<void()> run;
  int library = 0;  // whose threads it runs on
};

// `seconds` is each party's share.
std::vector<Samples> measure_rounds(const std::vector<Party>& parties, double seconds, int threads);

double timed(const std::function<void()>& run);

}  // namespace trine::bench
