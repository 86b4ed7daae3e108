// Time on devices that work by themselves: an event before and one after what a stream is given. They are asked for
// when the stream has been waited for anyway, or at the end; streams never wait for them. Times are told from an
// anchor, an event on a stream of the profiler's own whose time on the host is known; a new one is made every second,
// so that clocks that drift stay together.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compute/profile/recorder.h"
#include "trine/base/error.h"

namespace trine::compute::profile {
namespace {

constexpr size_t kMostPending = 8192, kResolvedAtOnce = 1024;
constexpr double kAnchorSeconds = 1;

struct Anchor {
  EventHandle event = nullptr;
  uint64_t ticks = 0;
};

struct Pair {
  TraceEvent event;
  EventHandle begin, end;
  std::shared_ptr<Anchor> anchor;
};

struct DeviceTimes {
  const BackendTable* table;
  int index;
  StreamHandle own = nullptr;  // for anchors
  std::vector<EventHandle> unused;
  std::deque<Pair> pending;
  std::shared_ptr<Anchor> anchor;
  std::map<StreamHandle, uint64_t> last_end;  // ticks: slices of a stream do not overlap

  EventHandle take() {
    if (unused.empty()) return table->create_event(index);
    const EventHandle event = unused.back();
    unused.pop_back();
    return event;
  }
};

struct All {
  std::mutex mutex;
  std::map<uint8_t, DeviceTimes> devices;
};
All& all() {
  static All& held = *new All;
  return held;
}

double seconds_per_tick() { return clock_now().ns_per_tick * 1e-9; }

DeviceTimes& times_of(uint8_t number) {
  auto& devices = all().devices;
  const auto found = devices.find(number);
  if (found != devices.end()) return found->second;
  // The driver's own end is registered by now: this runs before it.
  if (devices.empty()) std::atexit(resolve_all_device_times);
  const DeviceRow& row = device_row(number);
  return devices.emplace(number, DeviceTimes{row.table, row.index}).first->second;
}

void renew_anchor(DeviceTimes& times) {
  const uint64_t now = trace_ticks();
  if (times.anchor && static_cast<double>(now - times.anchor->ticks) * seconds_per_tick() < kAnchorSeconds) return;
  if (!times.own) times.own = times.table->create_stream(times.index);
  const auto give_back = [&times](Anchor* anchor) {
    times.unused.push_back(anchor->event);
    delete anchor;
  };
  std::shared_ptr<Anchor> anchor(new Anchor{times.take()}, give_back);
  times.table->record(times.index, anchor->event, times.own);
  times.table->wait_event(times.index, anchor->event);
  anchor->ticks = trace_ticks();
  times.anchor = std::move(anchor);
}

bool is_timed(What what) {
  return what == What::launch || what == What::copy || what == What::fill || what == What::graph;
}

bool is_capturing(const DeviceRow& row, StreamHandle stream) {
  const GraphTable* graphs = row.table->graphs;
  return graphs && graphs->capturing && graphs->capturing(row.index, stream);
}

// Its time as an event of the stream; without one when the device does not say.
void resolve(DeviceTimes& times, Pair& pair, double tick) {
  TraceEvent event = pair.event;
  event.what = What::device_range;
  event.ready = event.end = 0;
  try {
    const double begin = times.table->seconds_between(times.index, pair.anchor->event, pair.begin);
    const double seconds = times.table->seconds_between(times.index, pair.begin, pair.end);
    uint64_t& last = times.last_end[event.stream];
    event.begin = std::max(pair.anchor->ticks + static_cast<uint64_t>(static_cast<int64_t>(begin / tick)), last);
    event.end = last = event.begin + static_cast<uint64_t>(std::max(seconds, 0.0) / tick) + 1;
  } catch (const Error&) {
    event.end = 0;  // a device that failed
  }
  times.unused.push_back(pair.begin);
  times.unused.push_back(pair.end);
  ThreadLog& log = this_log();
  const std::lock_guard lock(log.lock);
  store(log, event, true);
}

template <class Which>
void resolve_those(DeviceTimes& times, const Which& which) {
  const double tick = seconds_per_tick();
  std::deque<Pair> rest;
  for (Pair& pair : times.pending)
    if (which(pair)) resolve(times, pair, tick);
    else rest.push_back(std::move(pair));
  times.pending = std::move(rest);
}

}  // namespace

void begin_on_device(ThreadLog& log, TraceEvent& event) {
  if (!is_timed(event.what)) return;
  try {
    const DeviceRow& row = device_row(event.device);
    event.captured = is_capturing(row, event.stream);
    if (event.captured) return;
    const std::lock_guard lock(all().mutex);
    DeviceTimes& times = times_of(event.device);
    renew_anchor(times);
    log.device_begin = times.take();
    times.table->record(times.index, log.device_begin, event.stream);
  } catch (const Error&) {
    return;  // the device failed, as what is to be timed will say
  }
}

void end_on_device(ThreadLog& log, const TraceEvent& event) {
  if (!is_timed(event.what)) return;
  const EventHandle begin = std::exchange(log.device_begin, nullptr);
  const std::lock_guard lock(all().mutex);
  DeviceTimes& times = times_of(event.device);
  if (!begin) return;
  if (event.failed) return times.unused.push_back(begin);
  EventHandle end = nullptr;
  try {
    end = times.take();
    times.table->record(times.index, end, event.stream);
    times.pending.push_back({event, begin, end, times.anchor});
  } catch (const Error&) {
    times.unused.push_back(begin);
    if (end) times.unused.push_back(end);
    return;
  }
  if (times.pending.size() < kMostPending) return;
  size_t left = kResolvedAtOnce;  // the oldest have long been done
  resolve_those(times, [&](const Pair&) { return left && left--; });
}

void resolve_device_times(const BackendTable* table, int index, StreamHandle stream) {
  const std::lock_guard lock(all().mutex);
  for (auto& [number, times] : all().devices)
    if (times.table == table && times.index == index)
      resolve_those(times, [&](const Pair& pair) { return pair.event.stream == stream; });
}

void resolve_all_device_times() {
  const std::lock_guard lock(all().mutex);
  for (auto& [number, times] : all().devices) resolve_those(times, [](const Pair&) { return true; });
}

}  // namespace trine::compute::profile
