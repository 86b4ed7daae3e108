// The time-stamp counter where it runs evenly (10 ns a reading against 26 on the machine where this was measured), else
// the monotonic clock. What a tick is follows from both clocks at the start and now.
#include <ctime>

#include "compute/profile/recorder.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace trine::compute {
namespace {

uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
bool counter_is_even() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}
const bool use_counter = counter_is_even();
#endif

std::atomic<uint64_t> first_ticks{0}, first_ns{0};

}  // namespace

uint64_t trace_ticks() {
#if defined(__x86_64__)
  if (use_counter) [[likely]]
    return __rdtsc();
#endif
  return monotonic_ns();
}

namespace profile {

uint64_t Clock::ns(uint64_t ticks) const {
  const auto since = static_cast<double>(static_cast<int64_t>(ticks - ticks0));
  return ns0 + static_cast<uint64_t>(static_cast<int64_t>(since * ns_per_tick));
}

void start_clock() {
  if (first_ticks.load()) return;
  first_ns.store(monotonic_ns());
  first_ticks.store(trace_ticks());
}

Clock clock_now() {
  constexpr uint64_t kLeastNs = 2'000'000;  // before that the readings' own time would show
  const uint64_t ticks0 = first_ticks.load(), ns0 = first_ns.load();
  uint64_t ns1 = monotonic_ns(), ticks1 = trace_ticks();
  while (ns1 - ns0 < kLeastNs) {
    ns1 = monotonic_ns();
    ticks1 = trace_ticks();
  }
  return {ticks0, ns0, static_cast<double>(ns1 - ns0) / static_cast<double>(ticks1 - ticks0)};
}

}  // namespace profile
}  // namespace trine::compute
