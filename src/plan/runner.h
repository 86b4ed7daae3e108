// Runner: runs a plan on inputs. The CPU's is Executor; libtrine_gpu has one for devices.
#pragma once

#include <functional>

#include "plan/prepare.h"

namespace trine {

// What one call took and did; seen by profilers and by verification.
struct CallEvent {
  const Plan* plan;
  const Segment* segment;
  const Call* call;
  const Node* node;
  double seconds;
  const std::vector<Datum>* inputs;  // of the node, as they were before the call; null unless asked for
  const std::vector<Datum>* outputs;
};

struct Observer {
  std::function<void(const CallEvent&)> see;
  bool with_data = false;  // copies every node's inputs and outputs
};

// Seconds of a run by a device's clock.
struct RunTimes {
  double compute = 0;      // kernels, and what lies between them
  double with_copies = 0;  // from the first copy to the last
  double queued = 0;       // of one of several runs of the kernels right behind each other; 0: not measured
};

// Not thread safe: one runner per thread. Plans may be shared.
class Runner {
 public:
  virtual ~Runner() = default;

  // In the order of the graph's inputs and outputs. Input bytes are only read during the call.
  virtual std::vector<Datum> run(const std::vector<Datum>& inputs) = 0;

  // As run; where that is a device, telling the time. The kernels run `queued` times more where no host step comes
  // between.
  virtual std::vector<Datum> run_timed(const std::vector<Datum>& inputs, int queued, RunTimes& times) {
    (void)queued;
    times = {};
    return run(inputs);
  }

  // Called after every call of every run, bodies included; an empty `see` stops it.
  virtual void observe(Observer observer) = 0;

  virtual size_t arena_bytes() const = 0;  // scratch memory held now
};

}  // namespace trine
