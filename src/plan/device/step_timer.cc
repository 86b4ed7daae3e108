#include "plan/device/step_timer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace trine {
namespace {

constexpr size_t kMostHeld = 256;  // operations; drivers take about a thousand before they make the host wait
constexpr std::chrono::milliseconds kLongestHold{100};  // should the host wait for the stream nevertheless

}  // namespace

class StepTimer::Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestHold, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

StepTimer::StepTimer(compute::Device device)
    : device_(std::move(device)), is_cpu_(!device_.info().architecture.starts_with("sm_")) {}

StepTimer::~StepTimer() { let_go(); }

void StepTimer::begin(const Call& call, size_t launches, bool hold_stream, compute::Stream& stream) {
  if (!gate_ && hold_stream && !is_cpu_) hold(stream);  // a CPU has done its work when it has been asked for it
  held_ += launches + 2;
  timed_.push_back({&call, device_.create_event(), device_.create_event()});
  stream.record(timed_.back().begin);
}

void StepTimer::end(compute::Stream& stream) {
  stream.record(timed_.back().end);
  if (held_ >= kMostHeld) let_go();
}

void StepTimer::hold(compute::Stream& stream) {
  gate_ = std::make_shared<Gate>();
  held_ = 0;
  stream.call([gate = gate_] { gate->wait(); });
  nothing_.emplace_back(device_.create_event(), device_.create_event());
  stream.record(nothing_.back().first);
  stream.record(nothing_.back().second);
}

void StepTimer::let_go() {
  if (gate_) gate_->open();
  gate_.reset();
}

double StepTimer::seconds_of_nothing() const {
  double least = nothing_.empty() ? 0 : 1;
  for (const auto& [begin, end] : nothing_) least = std::min(least, end.seconds_since(begin));
  return least;
}

void StepTimer::tell(const std::function<void(const Call&, double seconds)>& see) {
  constexpr double kLeast = 1e-9;
  let_go();
  if (!timed_.empty()) timed_.back().end.synchronize();
  const double nothing = seconds_of_nothing();
  const std::vector<Timed> timed = std::move(timed_);
  clear();
  for (const Timed& t : timed) see(*t.call, std::max(t.end.seconds_since(t.begin) - nothing, kLeast));
}

void StepTimer::clear() {
  let_go();
  timed_.clear();
  nothing_.clear();
}

}  // namespace trine
