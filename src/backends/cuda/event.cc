// Events of the driver, which take times.
#include "backends/cuda/stream.h"

namespace trine::cuda {
namespace {

Event& event_of(compute::EventHandle handle) { return *static_cast<Event*>(handle); }

}  // namespace

compute::EventHandle create_event(int index) {
  const DeviceContext& device = use_device(index);
  auto event = std::make_unique<Event>();
  check(api().event_create(&event->id, 0), "cuEventCreate", device.last_kernel);
  return event.release();
}

void destroy_event(int, compute::EventHandle handle) {
  const std::unique_ptr<Event> event(&event_of(handle));
  api().event_destroy(event->id);
}

void record(int index, compute::EventHandle handle, compute::StreamHandle stream) {
  const DeviceContext& device = use_device(index);
  Event& event = event_of(handle);
  event.last_kernel = last_kernel_on(device, stream);
  check(api().event_record(event.id, id_of(stream)), "cuEventRecord", event.last_kernel);
}

void wait(int index, compute::StreamHandle stream, compute::EventHandle handle) {
  const DeviceContext& device = use_device(index);
  check(api().stream_wait(id_of(stream), event_of(handle).id, 0), "cuStreamWaitEvent", last_kernel_on(device, stream));
}

void wait_event(int index, compute::EventHandle handle) {
  use_device(index);
  check(api().event_synchronize(event_of(handle).id), "cuEventSynchronize", event_of(handle).last_kernel);
}

bool event_done(int index, compute::EventHandle handle) {
  use_device(index);
  const Result result = api().event_query(event_of(handle).id);
  if (result != kNotReady) check(result, "cuEventQuery", event_of(handle).last_kernel);
  return result == kSuccess;
}

double seconds_between(int index, compute::EventHandle begin, compute::EventHandle end) {
  wait_event(index, end);
  float milliseconds = 0;
  check(api().event_milliseconds(&milliseconds, event_of(begin).id, event_of(end).id), "cuEventElapsedTime",
        event_of(end).last_kernel);
  return milliseconds * 1e-3;
}

}  // namespace trine::cuda
