// Measures one problem: our chosen kernel (or all that fit), and the peer's fastest way, whose result must be ours. A
// problem in several number types is one contest, in which all of them take turns.
#pragma once

#include <memory>
#include <span>

#include "peak.h"
#include "peer.h"
#include "report.h"
#include "trine/base/thread_pool.h"

namespace trine::bench {

struct How {
  int threads = 1;
  double seconds = 0.3;     // of each party on each problem
  double find_seconds = 0;  // for find to time candidates
  bool all = false;
};

class Bench {
 public:
  Bench(const How& how, const Peer* peer);

  // One for each of `variants`, in their order, that trine::dnn computes; of the others a line goes to `unsupported`.
  std::vector<Measurement> measure(std::span<const Entry> variants, std::vector<std::string>& unsupported);

  const Peaks& peaks() const { return peaks_; }  // of one core
  double peer_overhead() const { return overhead_; }
  bool results_differ() const { return differ_; }

 private:
  struct Contest;
  // Null, with the reason in `why`, for what trine::dnn does not compute.
  std::unique_ptr<Contest> prepare(const Entry& entry, std::string& why);
  void prepare_peer(Contest& contest);
  void compare_results(Contest& contest);
  void measure_together(std::span<const std::unique_ptr<Contest>> contests);
  void measure_others(Contest& contest);

  How how_;
  const Peer* peer_;
  Peaks peaks_;
  ThreadPool pool_;
  double overhead_ = 0;
  bool differ_ = false;
};

}  // namespace trine::bench
