// What the profiler keeps: for each thread a log of events and sums by name.
//
// A log has a lock, which nobody but its thread takes while programs run. Names and logs are never freed and are found
// through lists that only grow, so that a process that ends by a signal can still write what it has without locks or
// memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "compute/trace.h"
#include "trine/compute/profile.h"

namespace trine::compute {

struct TraceName {
  What what;
  uint8_t device;
  uint32_t id;  // counted from 0
  std::string text;
  std::atomic<double> bytes{0}, flops{0};  // declared, of a launch
  TraceName* next = nullptr;
};

}  // namespace trine::compute

namespace trine::compute::profile {

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) wait();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  void wait();
  std::atomic_flag flag_;
};

// Sums of the calls of one name in one thread; times in ticks.
struct Sums {
  uint64_t calls = 0, failed = 0, timed = 0;
  uint64_t total = 0, least = UINT64_MAX, most = 0;
  double bytes = 0, flops = 0;
  uint64_t work = 0;  // ticks of calls with bytes or flops
  void add(const Sums& other);
};

// Eight pages, made ready at once: a page at a time costs an event as much again as all else.
constexpr uint32_t kChunkEvents = 255;
struct alignas(TraceEvent) Chunk {
  std::atomic<Chunk*> next{nullptr};
  std::atomic<uint32_t> count{0};
  // Not touched before they are written.
  alignas(TraceEvent) std::byte events[kChunkEvents * sizeof(TraceEvent)];
  const TraceEvent& event(uint32_t i) const { return reinterpret_cast<const TraceEvent*>(events)[i]; }
  static Chunk* make();  // null when there is no memory
  void drop();
  void set(uint32_t i, const TraceEvent& event) { new (events + i * sizeof event) TraceEvent(event); }
};

constexpr uint32_t kDepth = 64;  // activities of a thread within each other

struct ThreadLog {
  SpinLock lock;
  uint32_t number = 0;  // counted from 1
  char label[32] = {};  // given by the program
  uint32_t depth = 0;   // of `open`
  uint64_t flows = 0;
  std::atomic<bool> is_worker{false};  // runs blocks for others
  Work work;                           // of launches, when set by the program
  EventHandle device_begin = nullptr;  // of the open activity that a device times
  Chunk* first = nullptr;
  Chunk* last = nullptr;
  Sums* sums = nullptr;  // by TraceName::id
  uint32_t sums_count = 0;
  ThreadLog* next = nullptr;       // of all
  ThreadLog* next_free = nullptr;  // of those whose threads are gone
  TraceEvent open[kDepth];
};

ThreadLog& this_log();
ThreadLog* all_logs();   // newest first
TraceName* all_names();  // newest first
uint32_t name_count();

// Devices have small numbers; the last is shared by those that are too many.
constexpr uint8_t kMostDevices = 16;
struct DeviceRow {
  const BackendTable* table = nullptr;
  int index = 0;
  char label[24] = {};  // "cuda:0"
  // Of allocations that are known.
  std::atomic<uint64_t> bytes{0}, peak{0};
};
uint8_t device_number(std::string_view backend, int index);
DeviceRow& device_row(uint8_t number);
uint8_t device_count();
constexpr uint8_t kNoDevice = UINT8_MAX;

const TraceName* intern(What what, uint8_t device, std::string_view text);
void declare_work(std::string_view kernel, const Work& work);

// Keeps it, when there is room, and adds it to the sums of its name when it is `counted`. The log is locked.
void store(ThreadLog& log, const TraceEvent& event, bool counted);

extern const Listener kRecorder;
TraceEvent* begin_activity(What what, uint8_t device, StreamHandle stream, const TraceName* name);
void end_activity(TraceEvent* event);

struct State {
  std::mutex control;  // of start, stop, and what reads
  std::atomic<bool> running{false};
  std::atomic<bool> forked{false};
  std::atomic<uint64_t> chunks_left{0};
  std::atomic<uint64_t> stored{0}, dropped{0};
  std::atomic<uint64_t> begin{0}, end{0};  // ticks; end 0: runs
};
State& state();
void forget_all();  // events, sums, bytes in use

// In memory.cc: the profiler's view of allocations. Sets bytes and bytes_in_use.
void note_allocation(TraceEvent& event);
void note_free(TraceEvent& event);
void forget_allocations();

// In device_times.cc: time on devices that work by themselves, by pairs of events on the stream.
void begin_on_device(ThreadLog& log, TraceEvent& event);
void end_on_device(ThreadLog& log, const TraceEvent& event);
void resolve_device_times(const BackendTable* table, int index, StreamHandle stream);  // which has been waited for
void resolve_all_device_times();

// In clock.cc
struct Clock {
  uint64_t ticks0, ns0;
  double ns_per_tick;
  uint64_t ns(uint64_t ticks) const;
};
void start_clock();
Clock clock_now();  // of the monotonic clock of the system

// In trace_file.cc: the whole trace. Neither locks nor allocates when `crashed`. False: it could not be written.
bool write_trace(int file, bool crashed);

}  // namespace trine::compute::profile
