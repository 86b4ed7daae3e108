// What the problems of a list come to, and how that prints: as text after the lines of the problems, or as tables for a
// page in Markdown.
#pragma once

#include "report.h"

namespace trine::bench {

// Of one list in one number type. Times are medians times multiplicity.
struct Total {
  std::string list, type;
  size_t problems = 0;
  double layers = 0, flops = 0;
  double ours = 0;                      // seconds
  double at_peak = 0;                   // seconds that `flops` would take
  size_t compared = 0;                  // with the peer:
  double ours_compared = 0, peer = 0;   //   seconds
  size_t exact = 0;                     //   of those, where the ratio says something,
  double logs = 0;                      //   and the sum of their logarithms
  size_t based = 0;                     // with the first number type:
  double ours_based = 0, baseline = 0;  //   seconds
  double gain_logs = 0;

  double mean_ratio() const;  // geometric; 0 when there are none
  double mean_gain() const;
};

// In the order of the lists; a last one, "all", for each type when there are several lists.
std::vector<Total> totals(const std::vector<Measurement>& all);

// Every problem with a ratio below 0.8, lowest first.
std::vector<const Measurement*> slow_ones(const std::vector<Measurement>& all);

std::string summary(const std::vector<Measurement>& all, const Columns& columns);

// One row for each list and type, and below it a table of the slow ones.
std::string markdown(const std::vector<Measurement>& all, const Columns& columns);

}  // namespace trine::bench
