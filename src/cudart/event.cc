// Events. In a capture they order streams, which a graph kept as a list does anyway.
#include "cudart/programs.h"
#include "cudart/stream.h"

using namespace trine::cudart;

namespace {

CUevent_st& event_of(cudaEvent_t event) {
  need(event, cudaErrorInvalidResourceHandle);
  return *event;
}

void wait_for(const CUevent_st& event) {
  need(!event.capture, cudaErrorCapturedEvent);
  if (!event.recorded) return;
  if (machine().table->wait_event) machine().table->wait_event(event.device, event.handle);
  fetch_managed(event.device);
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return call([&] {
    need(out && flags < 8);
    auto event = std::make_unique<CUevent_st>();
    event->device = current_device();
    event->flags = flags;
    event->handle = machine().table->create_event(event->device);
    *out = event.release();
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, 0); }

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned) {
  return call([&] {
    CUevent_st& event = event_of(handle);
    CUstream_st& on = stream_of(stream);
    event.recorded = true;
    event.capture = on.capture && on.capture->open ? on.capture : nullptr;
    if (event.capture) return;
    wait_for_others(on);
    machine().table->record(on.device, event.handle, on.handle);
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned flags) {
  return call([&] {
    need(flags <= 1);
    CUevent_st& event = event_of(handle);
    CUstream_st& on = stream_of(stream);
    const bool capturing = on.capture && on.capture->open;
    if (event.capture) {
      need(event.capture->open, cudaErrorCapturedEvent);
      need(!capturing || on.capture == event.capture, cudaErrorStreamCaptureMerge);
      on.capture = event.capture;  // it joins
      return;
    }
    need(!capturing, cudaErrorStreamCaptureIsolation);
    if (event.recorded) machine().table->wait(on.device, on.handle, event.handle);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { wait_for(event_of(event)); });
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return query_call([&] {
    const CUevent_st& event = event_of(handle);
    need(!event.capture, cudaErrorCapturedEvent);
    const auto done = machine().table->event_done;
    return !event.recorded || !done || done(event.device, event.handle);
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call([&] {
    const std::unique_ptr<CUevent_st> event(&event_of(handle));
    machine().table->destroy_event(event->device, event->handle);
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  return call([&] {
    need(ms);
    const CUevent_st &first = event_of(begin), &second = event_of(end);
    need(!first.capture && !second.capture && first.recorded && second.recorded, cudaErrorInvalidResourceHandle);
    need(!((first.flags | second.flags) & cudaEventDisableTiming), cudaErrorInvalidResourceHandle);
    *ms = static_cast<float>(1e3 * machine().table->seconds_between(first.device, first.handle, second.handle));
  });
}
