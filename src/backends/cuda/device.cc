// NVIDIA GPUs through the driver's interface. The library is opened at run time; without it there are no devices.
#include <fmt/format.h>

#include "backends/cuda/stream.h"
#include "compute/trace.h"
#include "trine/base/error.h"

namespace trine::cuda {
namespace {

using compute::Activity;
using compute::CopyKind;
using compute::DeviceProperties;
using compute::StreamHandle;
using compute::TraceEvent;
using compute::What;

DevicePointer address_of(const void* memory) { return reinterpret_cast<DevicePointer>(memory); }
void* pointer_of(DevicePointer address) { return reinterpret_cast<void*>(address); }

DeviceId id_of_device(int index) {
  DeviceId id = 0;
  check(api().device_get(&id, index), "cuDeviceGet");
  return id;
}

int attribute_of(DeviceId id, int which) {
  int value = 0;
  check(api().device_attribute(&value, static_cast<DeviceAttribute>(which), id), "cuDeviceGetAttribute");
  return value;
}

// Makes no context: listing devices must not take their memory.
DeviceProperties properties(int index) {
  const DeviceId id = id_of_device(index);
  const auto attribute = [id](DeviceAttribute which) { return attribute_of(id, which); };
  char name[256] = {};
  check(api().device_name(name, sizeof name - 1, id), "cuDeviceGetName");
  DeviceProperties p;
  p.name = name;
  p.architecture = fmt::format("sm_{}{}", attribute(kMajor), attribute(kMinor));
  check(api().device_memory(&p.memory_bytes, id), "cuDeviceTotalMem");
  p.compute_units = attribute(kMultiprocessors);
  p.cache_bytes = static_cast<size_t>(attribute(kCacheBytes));
  return p;
}

compute::DeviceLimits limits(int index) {
  const DeviceId id = id_of_device(index);
  const auto attribute = [id](int which) { return static_cast<uint32_t>(attribute_of(id, which)); };
  compute::DeviceLimits l;
  l.threads_per_block = attribute(kThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    l.block[i] = attribute(kBlockX + i);
    l.grid[i] = attribute(kGridX + i);
  }
  l.shared_bytes_per_block = attribute(kSharedBytesOptIn);
  l.constant_bytes = attribute(kConstantBytes);
  l.warp_threads = attribute(kWarpThreads);
  l.registers_per_block = attribute(kRegistersPerBlock);
  l.cooperative = attribute(kCooperative);
  use_device(index);
  int least = 0, greatest = 0;
  check(api().priority_range(&least, &greatest), "cuCtxGetStreamPriorityRange");
  l.greatest_priority = least - greatest;
  return l;
}

size_t free_bytes(int index) {
  const DeviceContext& device = use_device(index);
  size_t free = 0, total = 0;
  check(api().memory_info(&free, &total), "cuMemGetInfo", device.last_kernel);
  return free;
}

void trim_pool(int index, size_t keep_bytes) {
  const DeviceContext& device = use_device(index);
  if (device.pool) check(api().pool_trim(device.pool, keep_bytes), "cuMemPoolTrimTo", device.last_kernel);
}

// Memory that the pool keeps for reuse counts as taken: it is given back before memory is called short.
template <class Allocate>
void allocate_or_say(const DeviceContext& device, size_t bytes, const char* call, const Allocate& allocate) {
  Result result = allocate();
  if (result == kOutOfMemory && device.pool && api().pool_trim(device.pool, 0) == kSuccess) result = allocate();
  if (result != kOutOfMemory) return check(result, call, device.last_kernel);
  size_t free = 0, total = 0;
  check(api().memory_info(&free, &total), "cuMemGetInfo", device.last_kernel);
  throw Error(ErrorCode::out_of_memory, fmt::format("cuda:{}: {} cannot allocate {} bytes; {} of {} bytes are free",
                                                    device.index, call, bytes, free, total));
}

// Told before another thread may be given the same address.
void trace_free(int index, const void* memory) {
  if (const Activity activity(What::free, "cuda", index, nullptr); activity.event()) activity.event()->address = memory;
}

void* traced(const Activity& activity, size_t bytes, DevicePointer memory) {
  if (TraceEvent* event = activity.event()) event->bytes = bytes, event->address = pointer_of(memory);
  return pointer_of(memory);
}

void* allocate(int index, size_t bytes) {
  const Activity activity(What::allocate, "cuda", index, nullptr);
  const DeviceContext& device = use_device(index);
  DevicePointer memory = 0;
  allocate_or_say(device, bytes, "cuMemAlloc", [&] { return api().memory_allocate(&memory, bytes); });
  return traced(activity, bytes, memory);
}

void* allocate_ordered(int index, size_t bytes, StreamHandle stream) {
  const DeviceContext& device = use_device(index);
  if (!device.pool) return allocate(index, bytes);
  const Activity activity(What::allocate, "cuda", index, stream);
  DevicePointer memory = 0;
  allocate_or_say(device, bytes, "cuMemAllocAsync",
                  [&] { return api().memory_allocate_async(&memory, bytes, id_of(stream)); });
  return traced(activity, bytes, memory);
}

void* allocate_host(int index, size_t bytes) {
  const DeviceContext& device = use_device(index);
  void* memory = nullptr;
  const Result result = api().host_allocate(&memory, bytes, kHostPortable | kHostMapped);
  if (result == kOutOfMemory)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("cuda:{}: cuMemHostAlloc cannot allocate {} bytes of host memory; allocate less, or memory "
                            "that is not pinned",
                            index, bytes));
  check(result, "cuMemHostAlloc", device.last_kernel);
  return memory;
}

void register_host(int index, void* memory, size_t bytes, bool read_only) {
  const DeviceContext& device = use_device(index);
  const unsigned flags = kHostPortable | kHostMapped | (read_only ? kHostReadOnly : 0);
  const Result result = api().host_register(memory, bytes, flags);
  if (result == kOutOfMemory)
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("cuda:{}: cuMemHostRegister cannot pin {} bytes of host memory; register less", index, bytes));
  if (result == kInvalidValue)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("cuMemHostRegister: {}; memory of the host that may be read and written is accepted",
                            words_of(api(), result)));
  check(result, "cuMemHostRegister", device.last_kernel);
}
void unregister_host(int index, void* memory) {
  release(index, [memory] { api().host_unregister(memory); });
}

void* host_address(int index, void* memory) {
  const DeviceContext& device = use_device(index);
  DevicePointer address = 0;
  check(api().host_address(&address, memory, 0), "cuMemHostGetDevicePointer", device.last_kernel);
  return pointer_of(address);
}

void free_memory(int index, void* memory) {
  trace_free(index, memory);
  release(index, [memory] { api().memory_free(address_of(memory)); });
}
void free_host(int index, void* memory) {
  release(index, [memory] { api().host_free(memory); });
}
void free_ordered(int index, void* memory, StreamHandle stream) {
  trace_free(index, memory);
  release(index, [memory, stream] {
    if (stream_of(stream)->device->pool) api().memory_free_async(address_of(memory), id_of(stream));
    else api().memory_free(address_of(memory));
  });
}

void copy(int index, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  if (!bytes) return;
  const DeviceContext& device = use_device(index);
  const Activity activity(What::copy, "cuda", index, stream);
  if (TraceEvent* event = activity.event()) event->bytes = bytes, event->direction = kind;
  const std::string* kernel = last_kernel_on(device, stream);
  const StreamId on = id_of(stream);
  switch (kind) {
    case CopyKind::host_to_device:
      return check(api().copy_to_device(address_of(to), from, bytes, on), "cuMemcpyHtoDAsync", kernel);
    case CopyKind::device_to_host:
      return check(api().copy_to_host(to, address_of(from), bytes, on), "cuMemcpyDtoHAsync", kernel);
    case CopyKind::device_to_device:
      return check(api().copy_on_device(address_of(to), address_of(from), bytes, on), "cuMemcpyDtoDAsync", kernel);
  }
}

CopyEnd end_of(const compute::Pitched& p, bool on_device) {
  CopyEnd end{};
  end.type = on_device ? kDeviceMemory : kHostMemory;
  if (on_device) end.device = address_of(p.data);
  else end.host = p.data;
  end.row_bytes = p.row_bytes;
  end.rows = p.slice_bytes / p.row_bytes;
  return end;
}

void copy_pitched(int index, const compute::PitchedCopy& c, StreamHandle stream) {
  const DeviceContext& device = use_device(index);
  const Activity activity(What::copy, "cuda", index, stream);
  if (TraceEvent* event = activity.event())
    event->bytes = c.extent.width_bytes * c.extent.rows * c.extent.slices, event->direction = c.kind;
  const Copy3d copy{end_of(c.from, c.kind != CopyKind::host_to_device),
                    end_of(c.to, c.kind != CopyKind::device_to_host), c.extent.width_bytes, c.extent.rows,
                    c.extent.slices};
  check(api().copy_3d(&copy, id_of(stream)), "cuMemcpy3DAsync", last_kernel_on(device, stream));
}

void copy_peer(int index, void* to, int to_device, const void* from, int from_device, size_t bytes,
               StreamHandle stream) {
  if (!bytes) return;
  const Context to_context = use_device(to_device).context, from_context = use_device(from_device).context;
  const DeviceContext& device = use_device(index);
  const Activity activity(What::copy, "cuda", index, stream);
  if (TraceEvent* event = activity.event()) event->bytes = bytes, event->direction = CopyKind::device_to_device;
  check(api().copy_peer(address_of(to), to_context, address_of(from), from_context, bytes, id_of(stream)),
        "cuMemcpyPeerAsync", last_kernel_on(device, stream));
}

void fill(int index, void* memory, uint8_t value, size_t bytes, StreamHandle stream) {
  if (!bytes) return;
  const DeviceContext& device = use_device(index);
  const Activity activity(What::fill, "cuda", index, stream);
  if (TraceEvent* event = activity.event()) event->bytes = bytes;
  check(api().fill(address_of(memory), value, bytes, id_of(stream)), "cuMemsetD8Async", last_kernel_on(device, stream));
}

// Libraries work in the context that is current in this thread.
void* native_stream(int index, StreamHandle stream) {
  use_device(index);
  return id_of(stream);
}

const compute::BackendTable kCuda = {
    .name = "cuda",
    .device_count = [] { return driver().devices; },
    .properties = properties,
    .allocate = allocate,
    .free = free_memory,
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
    .call = call_host,
    .why_none = [] { return driver().problem; },
    .wait_event = wait_event,
    .stream_done = stream_done,
    .event_done = event_done,
    .create_priority_stream = create_priority_stream,
    .allocate_host = allocate_host,
    .free_host = free_host,
    .register_host = register_host,
    .unregister_host = unregister_host,
    .allocate_ordered = allocate_ordered,
    .free_ordered = free_ordered,
    .graphs = &kGraphs,
    .limits = limits,
    .free_bytes = free_bytes,
    .trim_pool = trim_pool,
    .host_address = host_address,
    .copy_pitched = copy_pitched,
    .copy_peer = copy_peer,
    .native_stream = native_stream,
};
const compute::RegisterBackend registered(kCuda);

}  // namespace
}  // namespace trine::cuda
