// What was measured on one entry, and how it prints: a table for people, benchdnn's line for scripts.
#pragma once

#include <string>
#include <vector>

#include "entry.h"

namespace trine::bench {

struct Side {
  std::string implementation;
  double median = 0, least = 0;  // seconds
  double create_ms = 0;
};

struct Measurement {
  const Entry* entry = nullptr;
  std::string label;       // "mb1ic64... x4"
  double flops = 0;        // the definition's
  double ops = 0;          // as benchdnn counts
  std::vector<Side> ours;  // chosen first; more with --all
  std::vector<Side> peer;  // none or one
  bool exact = true;       // false: the peer's time is mostly its runtime's, so the ratio says little
  std::string remark;      // why there is no peer, or how results part
};

struct Machine {
  double peak_flops = 0;  // of all threads
  bool has_peer = false;
};

std::string header(const Machine& machine);
std::string lines(const Measurement& m, const Machine& machine);
// "perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%" of the chosen kernel, then of
// the peer.
std::string perf_lines(const Measurement& m);
// Network time (the sum of medians times multiplicity) and the geometric mean of peer's time over ours.
std::string summary(const std::vector<Measurement>& all, const Machine& machine);

}  // namespace trine::bench
