// The public functions.
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compute/profile/totals.h"
#include "trine/base/error.h"
#include "trine/compute/profile.h"

namespace trine::compute {

using namespace profile;

namespace {

// A child has none of the threads that logs belong to, and its end must not write over the parent's file.
void forget_in_child() {
  listener.store(nullptr);
  state().running.store(false);
  state().forked.store(true);
}

std::atomic<uint64_t> range_numbers{0};

// Recorded where it ends, with a number: slices of a thread's track nest, these need not.
struct FreeRange {
  uint64_t begin;
  const TraceName* name;
};
constexpr size_t kFreeRanges = 4096;
struct FreeRanges {
  std::mutex mutex;
  FreeRange open[kFreeRanges];  // by number, going round
  uint64_t number[kFreeRanges] = {};
};
FreeRanges& free_ranges() {
  static FreeRanges& held = *new FreeRanges{};
  return held;
}

TraceEvent* begin_named(What what, std::string_view text) {
  return begin_activity(what, kNoDevice, nullptr, intern(what, kNoDevice, text));
}

}  // namespace

void Profiler::start(const ProfileOptions& options) {
  State& s = state();
  const std::lock_guard lock(s.control);
  if (s.forked)
    throw Error(ErrorCode::unsupported, "profiler: this process was forked from a recorded one; exec first");
  if (s.running) throw Error(ErrorCode::invalid_argument, "profiler: start while it is running; call stop() first");
  static const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(registered);
  start_clock();
  forget_all();
  s.chunks_left = (options.most_events + kChunkEvents - 1) / kChunkEvents;
  s.begin = trace_ticks();
  s.end = 0;
  s.running = true;
  listener.store(&kRecorder, std::memory_order_release);
}

void Profiler::stop() {
  State& s = state();
  const std::lock_guard lock(s.control);
  if (!s.running) return;
  listener.store(nullptr, std::memory_order_release);
  resolve_all_device_times();
  s.end = trace_ticks();
  s.running = false;
}

bool Profiler::running() { return state().running; }

void Profiler::pause() {
  const std::lock_guard lock(state().control);
  if (state().running) listener.store(nullptr, std::memory_order_release);
}

void Profiler::resume() {
  const std::lock_guard lock(state().control);
  if (state().running) listener.store(&kRecorder, std::memory_order_release);
}

Profile Profiler::profile() {
  State& s = state();
  const std::lock_guard lock(s.control);
  if (s.running) resolve_all_device_times();
  const Clock clock = clock_now();
  const auto seconds = [&](uint64_t ticks) { return static_cast<double>(ticks) * clock.ns_per_tick * 1e-9; };
  Profile out;
  for_each_row(true, [&](const TraceName& name, const Sums& sums) {
    out.rows.push_back({kind_of(name.what), name.device == kNoDevice ? "" : device_row(name.device).label, name.text,
                        sums.calls, sums.failed, sums.timed, seconds(sums.total), sums.timed ? seconds(sums.least) : 0,
                        seconds(sums.most), sums.bytes, sums.flops, seconds(sums.work)});
  });
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.what != b.what ? a.what < b.what : a.total_s > b.total_s;
  });
  for (uint8_t d = 0; d < device_count(); ++d)
    out.memory.push_back({device_row(d).label, device_row(d).bytes, device_row(d).peak});
  if (s.begin) out.seconds = seconds((s.end ? s.end.load() : trace_ticks()) - s.begin);
  out.events = s.stored;
  out.dropped_events = s.dropped;
  return out;
}

void Profiler::write(const std::string& path) {
  State& s = state();
  const std::lock_guard lock(s.control);
  start_clock();
  if (s.running) resolve_all_device_times();
  const auto fail = [&] {
    throw Error(ErrorCode::io, fmt::format("profiler: {}: cannot write ({}); give a path in a folder that exists and "
                                           "has room",
                                           path, std::strerror(errno)));
  };
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail();
  const bool written = write_trace(file, false);
  if (::close(file) != 0 || !written) fail();
}

void Profiler::declare(std::string_view kernel, const Work& launch) { declare_work(kernel, launch); }

Range::Range(std::string_view name) : event_(listening() ? begin_named(What::range, name) : nullptr) {}
Range::~Range() {
  if (event_) end_activity(event_);
}

LaunchWork::LaunchWork(const Work& launch) : before_(std::exchange(this_log().work, launch)) {}
LaunchWork::~LaunchWork() { this_log().work = before_; }

void set_launch_work(const Work& launch) { this_log().work = launch; }

void push_range(std::string_view name) {
  if (listening()) begin_named(What::range, name);
}

void pop_range() {
  if (!state().begin.load(std::memory_order_relaxed)) return;  // nothing was ever recorded
  ThreadLog& log = this_log();
  if (log.depth && log.open[log.depth - 1].what == What::range) end_activity(&log.open[log.depth - 1]);
}

uint64_t start_range(std::string_view name) {
  if (!listening()) return 0;
  const uint64_t number = ++range_numbers;
  FreeRanges& held = free_ranges();
  const std::lock_guard lock(held.mutex);
  held.open[number % kFreeRanges] = {trace_ticks(), intern(What::range, kNoDevice, name)};
  held.number[number % kFreeRanges] = number;
  return number;
}

void end_range(uint64_t number) {
  if (!number || !listening()) return;
  FreeRanges& held = free_ranges();
  FreeRange range{};
  {
    const std::lock_guard lock(held.mutex);
    if (held.number[number % kFreeRanges] != number) return;  // so many were open that it was forgotten
    held.number[number % kFreeRanges] = 0;
    range = held.open[number % kFreeRanges];
  }
  ThreadLog& log = this_log();
  const std::lock_guard lock(log.lock);
  store(log,
        {.what = What::range,
         .device = kNoDevice,
         .begin = range.begin,
         .end = trace_ticks(),
         .name = range.name,
         .count = number},
        true);
}

void mark(std::string_view name) {
  if (listening()) end_activity(begin_named(What::mark, name));
}

void name_thread(std::string_view name) {
  ThreadLog& log = this_log();
  const std::lock_guard lock(log.lock);
  const size_t bytes = std::min(name.size(), sizeof log.label - 1);
  std::memcpy(log.label, name.data(), bytes);
  log.label[bytes] = 0;
}

}  // namespace trine::compute
