// The host as a device. Work is done when it is asked for: a stream is always up to date.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "compute/immediate.h"
#include "compute/live_memory.h"
#include "compute/trace.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

using Clock = std::chrono::steady_clock;

struct CpuEvent {
  Clock::time_point time;
};

DeviceProperties properties(int) {
  const CpuInfo& cpu = cpu_info();
  const auto memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::string target = CpuTarget{cpu_level(), cpu_features()}.text();
  return {cpu.model, "x86-64 " + target, memory, cpu.cpus, cpu.l3_bytes, true};
}

// Not inline: libtrine_rt must stay small.
class Told {
 public:
  [[gnu::noinline]] Told(What what, size_t bytes, StreamHandle stream = nullptr, const void* address = nullptr)
      : activity_(what, "cpu", 0, stream) {
    if (TraceEvent* event = activity_.event()) event->bytes = bytes, event->address = address;
  }
  [[gnu::noinline]] ~Told() {}
  TraceEvent* event() const { return activity_.event(); }

 private:
  Activity activity_;
};

// Before another thread may be given it.
void tell_free(const void* memory) { const Told told(What::free, 0, nullptr, memory); }

size_t free_bytes(int) {
  return static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void* allocate(int, size_t bytes) {
  const Told told(What::allocate, bytes);
  // Who watches tells what lies behind a block from what lies in the next one.
  const size_t gap = memory_watch() ? 256 : 0;
  void* memory = bytes > SIZE_MAX - 63 - gap ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64 + gap);
  if (!memory) throw Error(ErrorCode::out_of_memory, fmt::format("cpu: cannot allocate {} bytes", bytes));
  if (TraceEvent* event = told.event()) event->address = memory;
  note_block(memory, bytes);
  return memory;
}

void release(int, void* memory) {
  tell_free(memory);
  if (memory && forget_block(memory)) std::free(memory);
}

void copy(int, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  const Told told(What::copy, bytes, stream);
  if (TraceEvent* event = told.event()) event->direction = kind;
  if (bytes) std::memmove(to, from, bytes);
}

void fill(int, void* memory, uint8_t value, size_t bytes, StreamHandle stream) {
  const Told told(What::fill, bytes, stream);
  if (bytes) std::memset(memory, value, bytes);
}

EventHandle create_event(int) { return new CpuEvent{}; }
void destroy_event(int, EventHandle event) { delete static_cast<CpuEvent*>(event); }
void record(int, EventHandle event, StreamHandle) { static_cast<CpuEvent*>(event)->time = Clock::now(); }

double seconds_between(int, EventHandle begin, EventHandle end) {
  const auto span = static_cast<CpuEvent*>(end)->time - static_cast<CpuEvent*>(begin)->time;
  return std::chrono::duration<double>(span).count();
}

BackendTable table() {
  BackendTable t = immediate_backend("cpu");
  t.properties = properties;
  t.allocate = allocate;
  t.free = release;
  t.copy = copy;
  t.fill = fill;
  t.create_event = create_event;
  t.destroy_event = destroy_event;
  t.record = record;
  t.seconds_between = seconds_between;
  t.free_bytes = free_bytes;
  return t;
}
const BackendTable kCpu = table();
const RegisterBackend registered(kCpu);

}  // namespace
}  // namespace trine::compute
