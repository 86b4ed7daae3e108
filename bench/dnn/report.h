// What was measured on one entry, and how it prints: a line of a table for people, benchdnn's line for scripts.
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
  double flops = 0;        // the definition's
  double ops = 0;          // as benchdnn counts
  double peak_flops = 0;   // a second, of all threads, in the entry's number type
  std::vector<Side> ours;  // chosen first; more with --all
  std::vector<Side> peer;  // none or one
  bool exact = true;       // false: the peer's time is mostly its runtime's, so the ratio says little
  double baseline = 0;     // seconds of ours in the first of several number types; 0: there is none
  std::string remark;      // why there is no peer, or how results part
};

// The peer's time over ours; 0 without a peer.
double ratio(const Measurement& m);
// Ours in the first number type over ours in this one; 0 when it is the first, or not known.
double gain(const Measurement& m);
// "bf16", "u8:s8:u8".
std::string type_of(const Entry& entry);
// Name and problem.
std::string label_of(const Entry& entry);

// Which columns there are besides ours.
struct Columns {
  bool peer = false;
  std::string baseline;  // the first of several number types; empty: there is one
};
std::string header(const Columns& columns);
std::string lines(const Measurement& m, const Columns& columns);

// "perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%" of the chosen kernel, then of
// the peer. The template's own line stands before all of them.
std::string perf_header();
std::string perf_lines(const Measurement& m);

}  // namespace trine::bench
