#include "trine/dnn/tuner.h"

#include "trine/base/error.h"

namespace trine::dnn {

Tuner::Tuner(TunerOptions options) : options_(std::move(options)) {
  if (!options_.file.empty()) load_timings(*timings_, options_.file);
  timings_->seconds_left = options_.seconds;
  thread_ = std::thread([this] { work(); });
}

Tuner::~Tuner() {
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void Tuner::request(const Problem& problem, const Limits& limits) {
  if (limits.deterministic) return;
  {
    std::lock_guard lock(mutex_);
    Limits own = limits;
    own.tuner = {};  // else this would own itself
    own.timings = timings_;
    own.measure_seconds = options_.seconds_per_problem;
    waiting_.emplace_back(problem, std::move(own));
  }
  changed_.notify_all();
}

bool Tuner::idle() const {
  std::lock_guard lock(mutex_);
  return waiting_.empty() && !busy_;
}

void Tuner::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
}

std::string Tuner::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

// What was measured since the last time. Called without the lock, by the tuner's thread only.
void Tuner::save() {
  if (options_.file.empty() || saved_ == timings_->measured) return;
  std::string error;
  try {
    save_timings(*timings_, options_.file);
  } catch (const Error& e) {
    error = e.what();
  }
  saved_ = timings_->measured;
  std::lock_guard lock(mutex_);
  error_ = error;
}

void Tuner::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (waiting_.empty()) {
      lock.unlock();
      save();
      lock.lock();
      busy_ = !waiting_.empty();
      changed_.notify_all();
      if (stops_) return;
      changed_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
      if (waiting_.empty()) continue;
    }
    busy_ = true;
    const auto [problem, limits] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      find(problem, limits);
    } catch (const std::exception&) {
      // No memory to measure with: the model's choice stays.
    }
    lock.lock();
  }
}

}  // namespace trine::dnn
