// A deadline for what the calling thread runs. Whatever may go on without bound (a loop of the model, a step after the
// other) asks now and then.
#pragma once

#include <chrono>

namespace trine {

// From construction to destruction the thread may take `seconds`; not above 0: no limit. They may nest.
class Deadline {
 public:
  explicit Deadline(double seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::chrono::steady_clock::time_point before_;
};

// Throws Error{timeout} when the thread's time is over.
void check_deadline();

}  // namespace trine
