// BackendTable: everything that layer 1 asks of a machine, as functions. A backend fills one table and registers it;
// nothing includes a backend. Every function throws Error{device, out_of_memory}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trine/compute/device.h"

namespace trine::compute {

using StreamHandle = void*;  // null: the device's default stream
using EventHandle = void*;
using GraphHandle = void*;

struct DeviceProperties {
  std::string name;             // "AMD EPYC 9B14", "NVIDIA H200"
  std::string architecture;     // "x86-64 avx512", "sm_90"
  size_t memory_bytes = 0;      // total
  int compute_units = 0;        // cores, multiprocessors
  size_t cache_bytes = 0;       // last level
  bool unified_memory = false;  // the host may touch device memory
};

// A copy of rows and slices, checked: strides are given, and slices are multiples of rows.
struct PitchedCopy {
  Pitched to, from;
  Extent extent;
  CopyKind kind;
};

// Capture of streams by the device itself.
struct GraphTable {
  void (*begin_capture)(int device, StreamHandle stream);
  GraphHandle (*end_capture)(int device, StreamHandle stream);  // ready to be launched
  void (*abort_capture)(int device, StreamHandle stream);       // never throws
  void* (*last_operation)(int device, StreamHandle stream);     // captured on this stream
  void (*launch)(int device, GraphHandle graph, StreamHandle stream);
  void (*destroy)(int device, GraphHandle graph);  // never throws
  bool (*capturing)(int device, StreamHandle stream);
};

struct BackendTable {
  std::string_view name;  // "cpu", "cuda", "null": what --device names

  int (*device_count)();
  DeviceProperties (*properties)(int device);

  void* (*allocate)(int device, size_t bytes);  // 64-byte aligned at least; bytes > 0
  void (*free)(int device, void* memory);       // never throws
  void (*copy)(int device, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream);
  void (*fill)(int device, void* memory, uint8_t value, size_t bytes, StreamHandle stream);

  StreamHandle (*create_stream)(int device);
  void (*destroy_stream)(int device, StreamHandle stream);  // waits for its work; never throws
  void (*synchronize)(int device, StreamHandle stream);

  EventHandle (*create_event)(int device);
  void (*destroy_event)(int device, EventHandle event);  // never throws
  void (*record)(int device, EventHandle event, StreamHandle stream);
  void (*wait)(int device, StreamHandle stream, EventHandle event);
  double (*seconds_between)(int device, EventHandle begin, EventHandle end);  // waits for `end`

  void (*call)(int device, StreamHandle stream, void (*function)(void*), void* argument);  // on the host, in order

  // What follows may be null: then layer 1 makes do with what is above.
  std::string (*why_none)() = nullptr;                             // why device_count() is 0
  void (*wait_event)(int device, EventHandle event) = nullptr;     // null: events are never ahead of the host
  bool (*stream_done)(int device, StreamHandle stream) = nullptr;  // null: streams are never behind the host
  bool (*event_done)(int device, EventHandle event) = nullptr;
  StreamHandle (*create_priority_stream)(int device, int* priority) = nullptr;  // changes it to what there is
  void* (*allocate_host)(int device, size_t bytes) = nullptr;
  void (*free_host)(int device, void* memory) = nullptr;  // never throws
  // Pins what is allocated elsewhere; null: there is nothing to do. Whole pages, none twice.
  void (*register_host)(int device, void* memory, size_t bytes, bool read_only) = nullptr;
  void (*unregister_host)(int device, void* memory) = nullptr;                         // never throws
  void* (*allocate_ordered)(int device, size_t bytes, StreamHandle stream) = nullptr;  // in the order of the stream
  void (*free_ordered)(int device, void* memory, StreamHandle stream) = nullptr;       // never throws
  const GraphTable* graphs = nullptr;
  DeviceLimits (*limits)(int device) = nullptr;
  size_t (*free_bytes)(int device) = nullptr;                  // null: all of it
  void (*trim_pool)(int device, size_t keep_bytes) = nullptr;  // null: there is no pool
  void* (*host_address)(int device, void* memory) = nullptr;   // allocated or registered, for kernels; null: the same
  void (*copy_pitched)(int device, const PitchedCopy& copy, StreamHandle stream) = nullptr;  // null: row by row
  // Between devices of this backend, on a stream of `device`; null: there is but one.
  void (*copy_peer)(int device, void* to, int to_device, const void* from, int from_device, size_t bytes,
                    StreamHandle stream) = nullptr;
  // As the driver's libraries take it, whose context becomes this thread's; null: there is none.
  void* (*native_stream)(int device, StreamHandle stream) = nullptr;
};

class RegisterBackend {
 public:
  explicit RegisterBackend(const BackendTable& table);
};

const BackendTable* find_backend(std::string_view name);  // null when there is none
std::vector<const BackendTable*> all_backends();          // sorted by name

}  // namespace trine::compute
