// A device that accepts everything and does nothing: memory is an address that nobody may touch, copies move no bytes.
// It measures what the host side of a program costs, and is the skeleton of a new backend.
#include <atomic>
#include <cstdint>

#include "compute/immediate.h"

namespace trine::compute {
namespace {

std::atomic<uintptr_t> next_address{uintptr_t{1} << 46};

void* allocate(int, size_t bytes) {
  return reinterpret_cast<void*>(next_address.fetch_add((bytes + 255) / 256 * 256, std::memory_order_relaxed));
}

BackendTable table() {
  BackendTable t = immediate_backend("null");
  t.properties = [](int) { return DeviceProperties{"null", "none", SIZE_MAX, 1, 0, false}; };
  t.allocate = allocate;
  t.free = [](int, void*) {};
  t.copy = [](int, void*, const void*, size_t, CopyKind, StreamHandle) {};
  t.fill = [](int, void*, uint8_t, size_t, StreamHandle) {};
  t.create_event = [](int) -> EventHandle { return new char; };
  t.destroy_event = [](int, EventHandle event) { delete static_cast<char*>(event); };
  t.record = [](int, EventHandle, StreamHandle) {};
  t.seconds_between = [](int, EventHandle, EventHandle) { return 0.0; };
  return t;
}
const BackendTable kNull = table();
const RegisterBackend registered(kNull);

}  // namespace
}  // namespace trine::compute
