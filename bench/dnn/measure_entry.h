// Measures one entry: our chosen kernel (or all that fit), and the peer's fastest way, whose result must be ours.
#pragma once

#include <optional>

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

  // Nothing, with the reason in `why`, for what trine::dnn does not compute.
  std::optional<Measurement> measure(const Entry& entry, std::string& why);

  double peer_overhead() const { return overhead_; }
  bool results_differ() const { return differ_; }

 private:
  void measure_peer(const dnn::Problem& problem, class OurRun& ours, std::vector<PeerRun>& runs, Measurement& m);
  void measure_ours(OurRun& ours, Side& side);

  How how_;
  const Peer* peer_;
  ThreadPool pool_;
  double overhead_ = 0;
  bool differ_ = false;
};

}  // namespace trine::bench
