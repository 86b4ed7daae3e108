#include "compute/profile/recorder.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace trine::compute::profile {
namespace {

std::atomic<ThreadLog*> logs{nullptr};
std::mutex& logs_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
ThreadLog* free_logs = nullptr;  // of the mutex
uint32_t log_numbers = 0;

ThreadLog* take_log() {
  const std::lock_guard lock(logs_mutex());
  if (ThreadLog* log = free_logs) {
    free_logs = log->next_free;
    return log;
  }
  auto* log = new ThreadLog;
  log->number = ++log_numbers;
  log->next = logs.load(std::memory_order_relaxed);
  logs.store(log, std::memory_order_release);
  return log;
}

thread_local ThreadLog* mine = nullptr;

// Logs of threads that are gone go on with new ones: there are never more than threads at a time.
struct Lease {
  ~Lease() {
    if (!mine) return;
    const std::lock_guard lock(logs_mutex());
    mine->next_free = free_logs;
    free_logs = mine;
    mine = nullptr;
  }
};

Chunk* room(ThreadLog& log) {
  if (log.last && log.last->count.load(std::memory_order_relaxed) < kChunkEvents) return log.last;
  uint64_t left = state().chunks_left.load(std::memory_order_relaxed);
  while (left && !state().chunks_left.compare_exchange_weak(left, left - 1)) continue;
  if (!left) return nullptr;
  Chunk* chunk = Chunk::make();
  if (!chunk) return nullptr;
  if (log.last) log.last->next.store(chunk, std::memory_order_release);
  else log.first = chunk;
  return log.last = chunk;
}

Sums* sums_of(ThreadLog& log, const TraceName& name) {
  if (name.id >= log.sums_count) {
    const uint32_t count = std::max(name.id + 1, log.sums_count * 2);
    Sums* larger = new (std::nothrow) Sums[count];
    if (!larger) return nullptr;
    std::copy(log.sums, log.sums + log.sums_count, larger);
    std::swap(log.sums, larger);
    log.sums_count = count;
    delete[] larger;
  }
  return &log.sums[name.id];
}

uint64_t duration(const TraceEvent& e) {
  const uint64_t begin = e.ready ? e.ready : e.begin;
  return e.end > begin ? e.end - begin : 0;
}

// What nobody has named.
const TraceName* usual_name(const TraceEvent& e) {
  constexpr int kKinds = static_cast<int>(What::device_range) + 1;
  static std::atomic<const TraceName*> known[kMostDevices][kKinds][3];
  constexpr const char* kDirections[] = {"upload", "download", "copy"};
  constexpr const char* kNames[] = {"launch", "blocks", "copy",    "fill",  "allocate", "free",
                                    "wait",   "replay", "compile", "range", "mark",     "device"};
  const auto direction = e.what == What::copy ? static_cast<int>(e.direction) : 0;
  auto& slot = known[std::min<int>(e.device, kMostDevices - 1)][static_cast<int>(e.what)][direction];
  const TraceName* name = slot.load(std::memory_order_acquire);
  if (name) return name;
  name = intern(e.what, e.device, e.what == What::copy ? kDirections[direction] : kNames[static_cast<int>(e.what)]);
  slot.store(name, std::memory_order_release);
  return name;
}

bool is_counted(const TraceEvent& e) {
  if (e.captured) return false;
  const bool timed_by_device =
      e.what == What::launch || e.what == What::copy || e.what == What::fill || e.what == What::graph;
  return e.what != What::blocks && (e.immediate || e.failed || !timed_by_device);
}

void finish(ThreadLog& log, TraceEvent& e) {
  if (e.what == What::allocate && !e.failed && e.address) note_allocation(e);
  if (e.what == What::free) note_free(e);
  if (e.what == What::blocks && e.flow >> 28 != log.number) log.is_worker.store(true, std::memory_order_relaxed);
  if (!e.name) e.name = usual_name(e);
  if (e.what == What::launch) {
    const bool own = log.work.bytes > 0 || log.work.flops > 0;
    e.bytes = static_cast<uint64_t>(own ? log.work.bytes : e.name->bytes.load(std::memory_order_relaxed));
    e.flops = own ? log.work.flops : e.name->flops.load(std::memory_order_relaxed);
  }
}

}  // namespace

Chunk* Chunk::make() {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  void* memory = mmap(nullptr, sizeof(Chunk), PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Chunk;
}

void Chunk::drop() { munmap(this, sizeof(Chunk)); }

void SpinLock::wait() { sched_yield(); }

State& state() {
  static State& all = *new State;
  return all;
}

ThreadLog& this_log() {
  if (mine) [[likely]]
    return *mine;
  static thread_local Lease lease;
  static_cast<void>(lease);
  mine = take_log();
  return *mine;
}

ThreadLog* all_logs() { return logs.load(std::memory_order_acquire); }

void Sums::add(const Sums& o) {
  calls += o.calls;
  failed += o.failed;
  timed += o.timed;
  total += o.total;
  least = std::min(least, o.least);
  most = std::max(most, o.most);
  bytes += o.bytes;
  flops += o.flops;
  work += o.work;
}

void store(ThreadLog& log, const TraceEvent& event, bool counted) {
  if (!state().running.load(std::memory_order_relaxed)) return;
  if (Sums* sums = counted ? sums_of(log, *event.name) : nullptr) {
    const uint64_t ticks = duration(event);
    const bool has_work = event.bytes > 0 || event.flops > 0;
    const uint64_t times = event.end ? 1 : 0;
    sums->add({1, event.failed, times, times * ticks, times ? ticks : UINT64_MAX, times * ticks,
               static_cast<double>(event.bytes), event.flops, has_work ? times * ticks : 0});
  }
  if (!event.end) return;
  Chunk* chunk = room(log);
  if (!chunk) {
    state().dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const uint32_t count = chunk->count.load(std::memory_order_relaxed);
  chunk->set(count, event);
  chunk->count.store(count + 1, std::memory_order_release);
  state().stored.fetch_add(1, std::memory_order_relaxed);
}

TraceEvent* begin_activity(What what, uint8_t device, StreamHandle stream, const TraceName* name) {
  ThreadLog& log = this_log();
  const uint64_t now = trace_ticks();
  TraceEvent* event = nullptr;
  const bool immediate = device == kNoDevice || !device_row(device).table->wait_event;
  {
    const std::lock_guard lock(log.lock);
    if (log.depth == kDepth) {
      state().dropped.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    event = &log.open[log.depth++];
    *event = TraceEvent{.what = what, .device = device, .begin = now, .name = name, .stream = stream};
    event->immediate = immediate;
    if (what == What::launch || what == What::graph || what == What::copy || what == What::fill)
      event->flow = uint64_t{log.number} << 28 | (++log.flows & 0xfffffff);
  }
  if (!immediate) begin_on_device(log, *event);
  return event;
}

void end_activity(TraceEvent* event) {
  ThreadLog& log = this_log();
  event->end = trace_ticks();
  finish(log, *event);
  const bool waited = event->what == What::synchronize && !event->immediate && !event->failed;
  if (log.device_begin) end_on_device(log, *event);
  {
    const std::lock_guard lock(log.lock);
    const auto index = static_cast<uint32_t>(event - log.open);
    while (log.depth > index) {  // ranges that were left open within
      TraceEvent& top = log.open[--log.depth];
      top.end = event->end;
      if (!top.name) top.name = usual_name(top);
      store(log, top, is_counted(top));
    }
  }
  if (!waited) return;
  const DeviceRow& row = device_row(event->device);  // nobody writes there before this thread begins the next
  resolve_device_times(row.table, row.index, event->stream);
}

const Listener kRecorder = {
    .begin = [](What what, std::string_view backend, int device, StreamHandle stream,
                const TraceName* name) { return begin_activity(what, device_number(backend, device), stream, name); },
    .end = end_activity,
    .name = [](What what, std::string_view backend, int device,
               std::string_view text) { return intern(what, device_number(backend, device), text); }};

void forget_all() {
  for (ThreadLog* log = all_logs(); log; log = log->next) {
    const std::lock_guard lock(log->lock);
    for (Chunk* chunk = log->first; chunk;) std::exchange(chunk, chunk->next.load())->drop();
    log->first = log->last = nullptr;
    std::fill(log->sums, log->sums + log->sums_count, Sums{});
  }
  forget_allocations();
  state().stored = 0;
  state().dropped = 0;
}

}  // namespace trine::compute::profile
