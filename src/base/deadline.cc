#include "base/deadline.h"

#include <algorithm>

#include "trine/base/error.h"

namespace trine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::time_point kNever = Clock::time_point::max();
constexpr double kLongest = 1e9;  // seconds: what the clock can count

thread_local Clock::time_point end = kNever;

}  // namespace

Deadline::Deadline(double seconds) : before_(end) {
  if (seconds > 0 && seconds < kLongest)
    end = std::min(end,
                   Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

Deadline::~Deadline() { end = before_; }

void check_deadline() {
  if (end != kNever && Clock::now() > end)
    throw Error(ErrorCode::timeout, "run: the time allowed is over; allow more, or look for a loop that never ends");
}

}  // namespace trine
