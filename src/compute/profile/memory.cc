// Bytes in use: backends free by address alone, so that allocations are remembered here. Those made before the start
// are not known, and their frees change nothing.
#include <algorithm>
#include <unordered_map>

#include "compute/profile/recorder.h"

namespace trine::compute::profile {
namespace {

struct Known {
  uint8_t device;
  uint64_t bytes;
};
struct Memory {
  std::mutex mutex;
  std::unordered_map<const void*, Known> known;  // addresses of devices are unique in a process
};
Memory& memory() {
  static Memory& held = *new Memory;
  return held;
}

}  // namespace

void note_allocation(TraceEvent& event) {
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  DeviceRow& row = device_row(event.device);
  Known& known = held.known[event.address];
  row.bytes -= known.bytes;  // freed while nobody listened
  known = {event.device, event.bytes};
  row.bytes += event.bytes;
  row.peak = std::max(row.peak.load(), row.bytes.load());
  event.bytes_in_use = row.bytes.load();
}

void note_free(TraceEvent& event) {
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  DeviceRow& row = device_row(event.device);
  if (const auto found = held.known.find(event.address); found != held.known.end()) {
    event.bytes = found->second.bytes;
    row.bytes -= event.bytes;
    held.known.erase(found);
  }
  event.bytes_in_use = row.bytes.load();
}

void forget_allocations() {
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  held.known.clear();
  for (uint8_t i = 0; i < device_count(); ++i) device_row(i).bytes = device_row(i).peak = 0;
}

}  // namespace trine::compute::profile
