// StepTimer: the device's time of each call of a run, by events before and behind what the call launches.
//
// A GPU that waits for the host between two events would count that wait: launching takes the host longer than small
// kernels run. So the stream is held while some hundred launches are given to it, and let go then. What two events with
// nothing in between take is subtracted.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trine/compute/device.h"

namespace trine {

struct Call;

class StepTimer {
 public:
  explicit StepTimer(compute::Device device);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  // Around what `call` gives the stream, of about so many launches. `hold`: all of it has run before; what is loaded on
  // first use may have to wait for the stream.
  void begin(const Call& call, size_t launches, bool hold, compute::Stream& stream);
  void end(compute::Stream& stream);
  // Waits for all of them and hands them over in order.
  void tell(const std::function<void(const Call&, double seconds)>& see);
  void clear();

 private:
  class Gate;
  struct Timed {
    const Call* call;
    compute::Event begin, end;
  };
  void hold(compute::Stream& stream);
  void let_go();
  double seconds_of_nothing() const;

  compute::Device device_;
  bool is_cpu_;
  std::vector<Timed> timed_;
  std::vector<std::pair<compute::Event, compute::Event>> nothing_;  // one for each time that the stream was held
  std::shared_ptr<Gate> gate_;                                      // null: the stream is not held
  size_t held_ = 0;                                                 // operations behind the gate
};

}  // namespace trine
