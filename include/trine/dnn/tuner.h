// Tuner: times rows in the background, so that nobody waits for a measurement.
//
//   auto tuner = std::make_shared<dnn::Tuner>(dnn::TunerOptions{.file = "timings.txt"});
//   dnn::Primitive conv(problem, {.threads = 2, .tuner = tuner});   // at once: by the model, or by times known already
//   ...
//   if (auto better = conv.faster()) conv = std::move(*better);     // later; weights are packed anew
//
// One thread measures one problem at a time, on data of its own. Times taken while the program computes are those of a
// busy machine; where that matters, wait for idle() before the work begins.
#pragma once

#include <condition_variable>
#include <deque>
#include <string>
#include <thread>

#include "trine/dnn/find.h"

namespace trine::dnn {

struct TunerOptions {
  double seconds_per_problem = 0.2;
  double seconds = 60;    // in all; afterwards requests are ignored
  std::string file = {};  // timing cache: read at the beginning, added to whenever there is nothing to do
};

class Tuner {
 public:
  // Throws Error{io} when the file cannot be read.
  explicit Tuner(TunerOptions options = {});
  // Finishes the problem that is being measured, forgets the others, and saves.
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  // Measures the candidates for `problem` when its turn comes; at once when their times are known. Limits that are
  // deterministic ask for nothing.
  void request(const Problem& problem, const Limits& limits);

  bool idle() const;          // nothing is waiting or being measured
  void wait() const;          // until idle
  std::string error() const;  // why the file could not be saved; empty when it could
  const std::shared_ptr<Timings>& timings() const { return timings_; }

 private:
  void work();
  void save();

  TunerOptions options_;
  std::shared_ptr<Timings> timings_ = std::make_shared<Timings>();
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::pair<Problem, Limits>> waiting_;
  bool busy_ = false, stops_ = false;
  int saved_ = 0;  // of timings_->measured
  std::string error_;
  std::thread thread_;
};

}  // namespace trine::dnn
