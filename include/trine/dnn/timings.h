// Timings: what rows took on this machine, so that the same problem is timed once. The text form is the timing cache of
// `build --timing-cache`: lines that can be sorted, merged and read,
//
//   trine timings 1
//   VERSION <tab> CPU <tab> THREADS <tab> ROW <tab> PROBLEM <tab> MICROSECONDS
//
// and of rows on devices "VERSION <tab> DEVICE <tab> 0 <tab> ...", DEVICE being the text by which they are asked for.
// Entries of other machines and versions are kept and not used. Threads may use one at the same time.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "trine/dnn/problem.h"

namespace trine::dnn {

class Timings {
 public:
  Timings() = default;
  Timings(const Timings& other);
  Timings& operator=(const Timings&) = delete;

  // Seconds that `row` took for `problem` on this machine.
  std::optional<double> find(const Problem& problem, std::string_view row, int threads) const;
  void add(const Problem& problem, std::string_view row, int threads, double seconds);

  // The same of a row of a device.
  std::optional<double> find_on(std::string_view device, const Problem& problem, std::string_view row) const;
  void add_on(std::string_view device, const Problem& problem, std::string_view row, double seconds);

  // Rows that could not be measured, and why; not in the text.
  void add_failure(std::string_view row, std::string why);
  std::map<std::string, std::string> failures() const;

  // Adds the entries of `text`; those that are there already win. Returns how many lines were ignored because they are
  // damaged. Throws Error{invalid_argument} when the text is something else altogether.
  int merge(std::string_view text);
  std::string text() const;

  double seconds_left = 0;  // of the budget for measuring; this and the next are for the thread that measures
  int measured = 0;         // rows measured so far

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> microseconds_;  // by the line without its last column
  std::map<std::string, std::string> failures_;
};

// Adds the entries of a file to `timings`, if there is such a file. Damaged lines, and a file that is no timing cache,
// are ignored with one line on stderr. Returns how many lines were ignored. Throws Error{io} when it cannot be read.
int load_timings(Timings& timings, const std::string& path);

// Adds `timings` to what the file holds by now, ours winning: processes may do so at the same time (PATH.lock), and
// whoever reads finds a whole file. Throws Error{io}, and Error{invalid_argument} rather than replace another kind of
// file.
void save_timings(const Timings& timings, const std::string& path);

}  // namespace trine::dnn
