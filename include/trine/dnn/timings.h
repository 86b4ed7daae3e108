// Timings: what rows took on this machine, so that the same problem is timed once. The text form is the timing cache of
// `build --timing-cache`: lines that can be sorted, merged and read,
//
//   trine timings 1
//   VERSION <tab> CPU <tab> THREADS <tab> ROW <tab> PROBLEM <tab> MICROSECONDS
//
// Entries of other machines and versions are kept and not used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trine/dnn/problem.h"

namespace trine::dnn {

class Timings {
 public:
  // Seconds that `row` took for `problem` on this machine.
  std::optional<double> find(const Problem& problem, std::string_view row, int threads) const;
  void add(const Problem& problem, std::string_view row, int threads, double seconds);

  // Adds the entries of `text`; those that are there already win. Returns how many lines were ignored because they are
  // damaged. Throws Error{invalid_argument} when the text is something else altogether.
  int merge(std::string_view text);
  std::string text() const;

  double seconds_left = 0;  // of the budget for measuring
  int measured = 0;         // rows measured so far

 private:
  std::map<std::string, double> microseconds_;  // by the line without its last column
};

}  // namespace trine::dnn
