// The host as a device. Work is done when it is asked for: a stream is always up to date.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/cpu.h"
#include "compute/backend_table.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

using Clock = std::chrono::steady_clock;

struct CpuEvent {
  Clock::time_point time;
};

int device_count() { return 1; }

DeviceProperties properties(int) {
  const CpuInfo& cpu = cpu_info();
  const auto memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return {cpu.model, fmt::format("x86-64 {}", name(cpu_level())), memory, cpu.cpus, cpu.l3_bytes, true};
}

void* allocate(int, size_t bytes) {
  void* memory = bytes > SIZE_MAX - 63 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!memory) throw Error(ErrorCode::out_of_memory, fmt::format("cpu: cannot allocate {} bytes", bytes));
  return memory;
}

void release(int, void* memory) { std::free(memory); }
void copy(int, void* to, const void* from, size_t bytes, CopyKind, StreamHandle) { std::memmove(to, from, bytes); }

void fill(int, void* memory, uint8_t value, size_t bytes, StreamHandle) {
  if (bytes) std::memset(memory, value, bytes);
}

StreamHandle create_stream(int) { return new char; }
void destroy_stream(int, StreamHandle stream) { delete static_cast<char*>(stream); }
void synchronize(int, StreamHandle) {}

EventHandle create_event(int) { return new CpuEvent{}; }
void destroy_event(int, EventHandle event) { delete static_cast<CpuEvent*>(event); }
void record(int, EventHandle event, StreamHandle) { static_cast<CpuEvent*>(event)->time = Clock::now(); }
void wait(int, StreamHandle, EventHandle) {}

double seconds_between(int, EventHandle begin, EventHandle end) {
  const auto span = static_cast<CpuEvent*>(end)->time - static_cast<CpuEvent*>(begin)->time;
  return std::chrono::duration<double>(span).count();
}

void call(int, StreamHandle, void (*function)(void*), void* argument) { function(argument); }

const BackendTable kCpu = {.name = "cpu",
                           .device_count = device_count,
                           .properties = properties,
                           .allocate = allocate,
                           .free = release,
                           .copy = copy,
                           .fill = fill,
                           .create_stream = create_stream,
                           .destroy_stream = destroy_stream,
                           .synchronize = synchronize,
                           .create_event = create_event,
                           .destroy_event = destroy_event,
                           .record = record,
                           .wait = wait,
                           .seconds_between = seconds_between,
                           .call = call};
const RegisterBackend registered(kCpu);

}  // namespace
}  // namespace trine::compute
