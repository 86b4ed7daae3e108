// The driver that pretends: streams, events, copies.
#include <chrono>
#include <cstring>

#include "state.h"

namespace trine::fake {
namespace {

StreamData& data_of(cuda::StreamId stream) {
  static StreamData of_null;
  return stream ? *reinterpret_cast<StreamData*>(stream) : of_null;
}
EventData& data_of(cuda::EventId event) { return *reinterpret_cast<EventData*>(event); }

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

cuda::Result move(const char* function, void* to, const void* from, size_t bytes, cuda::StreamId stream, bool to_device,
                  bool from_device) {
  if (const cuda::Result r = enter(function)) return r;
  auto node = std::make_shared<Node>();
  node->run = [=] {
    if (to_device && !inside(reinterpret_cast<uint64_t>(to), bytes)) return;
    if (from_device && !inside(reinterpret_cast<uint64_t>(from), bytes)) return;
    std::memmove(to, from, bytes);
  };
  submit(stream, node);
  return cuda::kSuccess;
}

}  // namespace

void submit(cuda::StreamId stream, std::shared_ptr<Node> node) {
  StreamData& data = data_of(stream);
  if (!data.capturing()) return node->run();
  if (!data.origin) data.capture->apart.insert(&data);
  data.capture->nodes.push_back(node);
  data.last = node;
}

extern "C" {

cuda::Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void* from, size_t bytes, cuda::StreamId stream) {
  return move("cuMemcpyHtoDAsync_v2", reinterpret_cast<void*>(to), from, bytes, stream, true, false);
}
cuda::Result cuMemcpyDtoHAsync_v2(void* to, cuda::DevicePointer from, size_t bytes, cuda::StreamId stream) {
  return move("cuMemcpyDtoHAsync_v2", to, reinterpret_cast<void*>(from), bytes, stream, false, true);
}
cuda::Result cuMemcpyDtoDAsync_v2(cuda::DevicePointer to, cuda::DevicePointer from, size_t bytes,
                                  cuda::StreamId stream) {
  return move("cuMemcpyDtoDAsync_v2", reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes, stream, true,
              true);
}
cuda::Result cuMemcpyPeerAsync(cuda::DevicePointer to, cuda::Context to_context, cuda::DevicePointer from,
                               cuda::Context from_context, size_t bytes, cuda::StreamId stream) {
  if (to_context == from_context) return cuda::kInvalidValue;
  return move("cuMemcpyPeerAsync", reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes, stream, true,
              true);
}
cuda::Result cuMemcpy3DAsync_v2(const cuda::Copy3d* copy, cuda::StreamId stream) {
  if (const cuda::Result r = enter("cuMemcpy3DAsync_v2")) return r;
  auto node = std::make_shared<Node>();
  node->run = [c = *copy] {
    for (size_t z = 0; z < c.depth; ++z)
      for (size_t y = 0; y < c.height; ++y) {
        const auto at = [&](const cuda::CopyEnd& end) {
          if (end.type == cuda::kArrayMemory) return row_of_array(end, y, z);
          const bool on_device = end.type == cuda::kDeviceMemory;
          const uint64_t base = on_device ? end.device : reinterpret_cast<uint64_t>(end.host);
          const uint64_t row = base + ((end.z + z) * end.rows + end.y + y) * end.row_bytes + end.x;
          return on_device && !inside(row, c.width_bytes) ? nullptr : reinterpret_cast<char*>(row);
        };
        char *to = at(c.to), *from = at(c.from);
        if (to && from) std::memmove(to, from, c.width_bytes);
      }
  };
  submit(stream, node);
  return cuda::kSuccess;
}
cuda::Result cuMemsetD8Async(cuda::DevicePointer to, unsigned char value, size_t bytes, cuda::StreamId stream) {
  if (const cuda::Result r = enter("cuMemsetD8Async")) return r;
  auto node = std::make_shared<Node>();
  node->run = [=] {
    if (inside(to, bytes)) std::memset(reinterpret_cast<void*>(to), value, bytes);
  };
  submit(stream, node);
  return cuda::kSuccess;
}

cuda::Result cuStreamCreateWithPriority(cuda::StreamId* stream, unsigned flags, int priority) {
  if (const cuda::Result r = enter("cuStreamCreateWithPriority")) return r;
  if (flags != cuda::kStreamNonBlocking || priority > 0 || priority < -5) return cuda::kInvalidValue;
  auto* data = new StreamData;
  data->priority = priority;
  *stream = reinterpret_cast<cuda::StreamId>(data);
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuStreamDestroy_v2(cuda::StreamId stream) {
  delete &data_of(stream);
  --state().objects;
  return enter("cuStreamDestroy_v2");
}
cuda::Result cuStreamSynchronize(cuda::StreamId) { return enter("cuStreamSynchronize"); }
cuda::Result cuStreamQuery(cuda::StreamId) { return enter("cuStreamQuery"); }

cuda::Result cuLaunchHostFunc(cuda::StreamId stream, void (*function)(void*), void* argument) {
  if (const cuda::Result r = enter("cuLaunchHostFunc")) return r;
  auto node = std::make_shared<Node>();
  node->run = [=] { function(argument); };
  submit(stream, node);
  return cuda::kSuccess;
}

cuda::Result cuEventCreate(cuda::EventId* event, unsigned) {
  if (const cuda::Result r = enter("cuEventCreate")) return r;
  *event = reinterpret_cast<cuda::EventId>(new EventData);
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuEventDestroy_v2(cuda::EventId event) {
  delete &data_of(event);
  --state().objects;
  return enter("cuEventDestroy_v2");
}
cuda::Result cuEventRecord(cuda::EventId event, cuda::StreamId stream) {
  if (const cuda::Result r = enter("cuEventRecord")) return r;
  data_of(event) = {true, now(), data_of(stream).capturing() ? data_of(stream).capture : nullptr, &data_of(stream)};
  return cuda::kSuccess;
}
cuda::Result cuStreamWaitEvent(cuda::StreamId stream, cuda::EventId event, unsigned) {
  if (const cuda::Result r = enter("cuStreamWaitEvent")) return r;
  StreamData& data = data_of(stream);
  const EventData& waited = data_of(event);
  if (!data.capturing()) data.capture = waited.capture;  // it joins
  if (data.capture) data.capture->apart.erase(waited.stream);
  return cuda::kSuccess;
}
cuda::Result cuEventSynchronize(cuda::EventId) { return enter("cuEventSynchronize"); }
cuda::Result cuEventQuery(cuda::EventId) { return enter("cuEventQuery"); }
cuda::Result cuEventElapsedTime(float* milliseconds, cuda::EventId begin, cuda::EventId end) {
  if (!data_of(begin).recorded || !data_of(end).recorded) return cuda::kInvalidValue;
  *milliseconds = static_cast<float>((data_of(end).seconds - data_of(begin).seconds) * 1e3);
  return enter("cuEventElapsedTime");
}

}  // extern "C"
}  // namespace trine::fake
