// What a profiler hears of: activities of devices, told by backends as they begin and end. While nobody listens an
// activity is a load and a branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "compute/backend_table.h"

namespace trine::compute {

enum class What : uint8_t {
  launch,  // of a kernel; on the CPU it has run when this ends
  blocks,  // of a kernel, run by one thread of the CPU
  copy,
  fill,
  allocate,
  free,
  synchronize,
  graph,    // a replay
  compile,  // of a module, or of a kernel at its first launch
  range,    // what the program marks itself
  mark,
  device_range,  // time on a stream of a device that works by itself
};

enum class RunsIn : uint8_t { unknown, lanes, threads };

struct TraceName;  // text that stays, see Listener::name

struct BlockRange {
  uint32_t first, count;
};
constexpr int kBlockRanges = 4;

struct TraceEvent {
  What what = What::mark;
  CopyKind direction = CopyKind::host_to_device;
  RunsIn mode = RunsIn::unknown;
  uint8_t device = 0;  // number of the profiler's
  bool failed = false;
  bool captured = false;                   // kept for a graph, not done
  bool immediate = false;                  // done when it ends
  bool cached = false;                     // compile: found in a cache
  uint16_t width = 0;                      // lanes of a vector
  uint16_t ranges = 0;                     // blocks: how many of `range` are set
  uint64_t begin = 0, end = 0, ready = 0;  // ticks; ready: a launch's code was there. 0: from the beginning
  uint64_t flow = 0;                       // of a launch and what runs it
  const TraceName* name = nullptr;
  StreamHandle stream = nullptr;
  uint64_t bytes = 0;             // moved, allocated; of a launch those declared
  double flops = 0;               // declared
  uint64_t count = 0;             // of blocks; of kernels in a graph
  const void* address = nullptr;  // of an allocation
  union {
    struct {
      uint32_t grid[3], block[3], shared_bytes;
    } shape = {};
    BlockRange range[kBlockRanges];
    uint64_t bytes_in_use;
  };

  template <class Shape>  // LaunchShape, which libtrine_rt does not know
  void set_shape(const Shape& s) {
    shape = {{s.grid.x, s.grid.y, s.grid.z}, {s.block.x, s.block.y, s.block.z}, s.shared_bytes};
  }
};

static_assert(sizeof(TraceEvent) == 128, "what events cost is written down");

struct Listener {
  // An open activity of this thread, to be filled in until its end; null: not kept. Those of a thread nest. `name` is
  // the first activity's: of this backend and device.
  TraceEvent* (*begin)(What what, std::string_view backend, int device, StreamHandle stream, const TraceName* name);
  void (*end)(TraceEvent* event);
  // The same text gives the same name, which stays as long as the program.
  const TraceName* (*name)(What what, std::string_view backend, int device, std::string_view text);
};

extern std::atomic<const Listener*> listener;  // null: nobody listens
inline const Listener* listening() { return listener.load(std::memory_order_acquire); }

// Null when nobody listens.
inline const TraceName* name_for(What what, std::string_view backend, int device, std::string_view text) {
  const Listener* hears = listening();
  return hears ? hears->name(what, backend, device, text) : nullptr;
}

class Activity {
 public:
  Activity(What what, std::string_view backend, int device, StreamHandle stream, const TraceName* name = nullptr) {
    if (const Listener* hears = listening()) [[unlikely]]
      start(hears, what, backend, device, stream, name);
  }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  ~Activity() {
    if (event_) [[unlikely]]
      finish();
  }
  TraceEvent* event() const { return event_; }  // null: nobody listens

 private:
  void start(const Listener* hears, What what, std::string_view backend, int device, StreamHandle stream,
             const TraceName* name);
  void finish();
  const Listener* listener_ = nullptr;
  TraceEvent* event_ = nullptr;
  int exceptions_ = 0;  // under way when it began
};

// Ticks of the clock of activities; ticks_clock.cc of the profiler makes them into time.
uint64_t trace_ticks();

}  // namespace trine::compute
