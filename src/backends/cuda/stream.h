// What handles of streams, events and graphs point at.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/context.h"
#include "compute/backend_table.h"

namespace trine::cuda {

// What a host call threw, until a synchronize() throws it on: the driver's thread must not.
class Thrown {
 public:
  void keep(std::exception_ptr error);  // the first
  std::exception_ptr take();

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

struct HostCall {
  void (*function)(void*);
  void* argument;
  std::shared_ptr<Thrown> thrown;
};

struct Stream {
  DeviceContext* device;
  StreamId id;
  std::atomic<const std::string*> last_kernel{nullptr};
  std::shared_ptr<Thrown> thrown = std::make_shared<Thrown>();  // by calls on this stream
  std::vector<std::shared_ptr<Thrown>> of_graphs;               // launched since the last synchronize()
};

struct Event {
  EventId id;
  const std::string* last_kernel = nullptr;  // on its stream when it was recorded
};

struct Graph {
  GraphId id = nullptr;
  GraphExec exec = nullptr;
  const std::string* last_kernel = nullptr;
  std::shared_ptr<Thrown> thrown;
  std::vector<std::unique_ptr<HostCall>> calls;
};

inline Stream* stream_of(compute::StreamHandle handle) { return static_cast<Stream*>(handle); }
// Null handles are the default stream.
inline StreamId id_of(compute::StreamHandle handle) { return handle ? stream_of(handle)->id : nullptr; }
const std::string* last_kernel_on(const DeviceContext& device, compute::StreamHandle handle);

// In stream.cc
compute::StreamHandle create_stream(int device);
compute::StreamHandle create_priority_stream(int device, int* priority);
void destroy_stream(int device, compute::StreamHandle stream);
void synchronize(int device, compute::StreamHandle stream);
bool stream_done(int device, compute::StreamHandle stream);
void call_host(int device, compute::StreamHandle stream, void (*function)(void*), void* argument);
// In event.cc
compute::EventHandle create_event(int device);
void destroy_event(int device, compute::EventHandle event);
void record(int device, compute::EventHandle event, compute::StreamHandle stream);
void wait(int device, compute::StreamHandle stream, compute::EventHandle event);
void wait_event(int device, compute::EventHandle event);
bool event_done(int device, compute::EventHandle event);
double seconds_between(int device, compute::EventHandle begin, compute::EventHandle end);

// In graph.cc
extern const compute::GraphTable kGraphs;
// The call is captured: it is kept for the graph, and is made at every replay. Null when the stream is not captured.
HostCall* captured_call(StreamId stream, void (*function)(void*), void* argument);

}  // namespace trine::cuda
