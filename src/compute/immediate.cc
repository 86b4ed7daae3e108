#include "compute/immediate.h"

#include <atomic>
#include <mutex>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

struct ImmediateStream {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::string text;
};

ImmediateStream& stream_of(StreamHandle handle) {
  static ImmediateStream unnamed;  // the default stream
  return handle ? *static_cast<ImmediateStream*>(handle) : unnamed;
}

}  // namespace

void fail_stream(StreamHandle handle, const std::string& text) {
  ImmediateStream& stream = stream_of(handle);
  const std::lock_guard lock(stream.mutex);
  if (!stream.failed.load()) stream.text = text;
  stream.failed.store(true, std::memory_order_release);
}

void check_stream(StreamHandle handle) {
  const ImmediateStream& stream = stream_of(handle);
  if (stream.failed.load(std::memory_order_acquire)) throw Error(ErrorCode::device, stream.text);
}

BackendTable immediate_backend(std::string_view name) {
  return {.name = name,
          .device_count = [] { return 1; },
          .create_stream = [](int) -> StreamHandle { return new ImmediateStream; },
          .destroy_stream = [](int, StreamHandle stream) { delete static_cast<ImmediateStream*>(stream); },
          .synchronize = [](int, StreamHandle stream) { check_stream(stream); },
          .wait = [](int, StreamHandle, EventHandle) {},
          .call = [](int, StreamHandle, void (*function)(void*), void* argument) { function(argument); }};
}

}  // namespace trine::compute
