#include "backends/cuda/stream.h"

#include <algorithm>
#include <utility>

#include "compute/trace.h"

namespace trine::cuda {
namespace {

void make(HostCall& call) {
  try {
    call.function(call.argument);
  } catch (...) {
    call.thrown->keep(std::current_exception());
  }
}

compute::StreamHandle create(int index, int driver_priority) {
  DeviceContext& device = use_device(index);
  auto stream = std::make_unique<Stream>();
  stream->device = &device;
  check(api().stream_create(&stream->id, kStreamNonBlocking, driver_priority), "cuStreamCreateWithPriority",
        device.last_kernel);
  return stream.release();
}

void throw_kept(Stream& stream) {
  std::exception_ptr first = stream.thrown->take();
  for (const auto& thrown : std::exchange(stream.of_graphs, {}))
    if (std::exception_ptr error = thrown->take(); error && !first) first = error;
  if (first) std::rethrow_exception(first);
}

}  // namespace

void Thrown::keep(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

std::exception_ptr Thrown::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, nullptr);
}

const std::string* last_kernel_on(const DeviceContext& device, compute::StreamHandle handle) {
  const std::string* kernel = handle ? stream_of(handle)->last_kernel.load() : nullptr;
  return kernel ? kernel : device.last_kernel.load();  // the error came from another stream, or is older
}

compute::StreamHandle create_stream(int device) { return create(device, 0); }

// The driver's numbers fall as urgency rises: from `least`, which is 0, to `greatest`, as -5.
compute::StreamHandle create_priority_stream(int device, int* priority) {
  use_device(device);
  int least = 0, greatest = 0;
  check(api().priority_range(&least, &greatest), "cuCtxGetStreamPriorityRange");
  *priority = std::clamp(*priority, 0, least - greatest);
  return create(device, least - *priority);
}

void destroy_stream(int, compute::StreamHandle handle) {
  const std::unique_ptr<Stream> stream(stream_of(handle));
  Context current = nullptr;
  if (api().context_get(&current) != kSuccess || current != stream->device->context)
    if (api().context_set(stream->device->context) != kSuccess) return;  // at exit
  api().stream_synchronize(stream->id);                                  // host calls refer to what the caller keeps
  api().stream_destroy(stream->id);
}

void synchronize(int index, compute::StreamHandle handle) {
  const compute::Activity activity(compute::What::synchronize, "cuda", index, handle);
  const DeviceContext& device = use_device(index);
  check(api().stream_synchronize(id_of(handle)), "cuStreamSynchronize", last_kernel_on(device, handle));
  if (handle) throw_kept(*stream_of(handle));
}

bool stream_done(int index, compute::StreamHandle handle) {
  const DeviceContext& device = use_device(index);
  const Result result = api().stream_query(id_of(handle));
  if (result != kNotReady) check(result, "cuStreamQuery", last_kernel_on(device, handle));
  return result == kSuccess;
}

void call_host(int index, compute::StreamHandle handle, void (*function)(void*), void* argument) {
  const DeviceContext& device = use_device(index);
  HostCall* kept = captured_call(id_of(handle), function, argument);
  if (kept) {
    const auto run = [](void* p) { make(*static_cast<HostCall*>(p)); };
    return check(api().host_call(id_of(handle), run, kept), "cuLaunchHostFunc");
  }
  const auto thrown = handle ? stream_of(handle)->thrown : std::make_shared<Thrown>();
  auto call = std::make_unique<HostCall>(HostCall{function, argument, thrown});
  const auto run = [](void* p) { make(*std::unique_ptr<HostCall>(static_cast<HostCall*>(p))); };
  check(api().host_call(id_of(handle), run, call.get()), "cuLaunchHostFunc", last_kernel_on(device, handle));
  call.release();
}

}  // namespace trine::cuda
