// Compares the results of all parties on one case, then measures them in rounds that take turns.
#pragma once

#include "party.h"

namespace trine::bench_compute {

struct Peers {
  std::shared_ptr<OpenCl> pocl;  // null: not compared with
  std::shared_ptr<Loops> loops;
};

struct How {
  std::string device = "cpu";
  int threads = 1;
  double seconds = 0.3;  // of each party
  std::string programs;  // folder of compiled examples (pack()); "": they are compiled
};

// Medians in seconds; 0 where there was no such party.
struct Measurement {
  std::string name, size;
  double ours = 0, pocl = 0, cxx = 0;
  double scalar = 0;  // divergent kernels: the same kernel in mode threads
  double flops = 0, bytes = 0;
  bool divergent = false;
  std::string refusals;    // kernels that lanes do not run, and why
  std::string pocl_block;  // the best work-group
  std::string differs;     // parties whose results are others than ours
};

Measurement measure(const Case& problem, const Peers& peers, const How& how);

// "" or why they are not equal.
std::string compare(const Case& problem, const Contents& ours, const Contents& theirs);

}  // namespace trine::bench_compute
