// A device that accepts everything and does nothing: memory is an address that nobody may touch, copies move no bytes.
// It measures what the host side of a program costs, and is the skeleton of a new backend.
#include <atomic>
#include <cstdint>

#include "compute/backend_table.h"

namespace trine::compute {
namespace {

std::atomic<uintptr_t> next_address{uintptr_t{1} << 46};

int device_count() { return 1; }
DeviceProperties properties(int) { return {"null", "none", SIZE_MAX, 1, 0, false}; }

void* allocate(int, size_t bytes) {
  return reinterpret_cast<void*>(next_address.fetch_add((bytes + 255) / 256 * 256, std::memory_order_relaxed));
}

void release(int, void*) {}
void copy(int, void*, const void*, size_t, CopyKind, StreamHandle) {}
void fill(int, void*, uint8_t, size_t, StreamHandle) {}
StreamHandle create_stream(int) { return new char; }
void destroy_stream(int, StreamHandle stream) { delete static_cast<char*>(stream); }
void synchronize(int, StreamHandle) {}
EventHandle create_event(int) { return new char; }
void destroy_event(int, EventHandle event) { delete static_cast<char*>(event); }
void record(int, EventHandle, StreamHandle) {}
void wait(int, StreamHandle, EventHandle) {}
double seconds_between(int, EventHandle, EventHandle) { return 0; }
void call(int, StreamHandle, void (*function)(void*), void* argument) { function(argument); }

const BackendTable kNull = {.name = "null",
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
const RegisterBackend registered(kNull);

}  // namespace
}  // namespace trine::compute
