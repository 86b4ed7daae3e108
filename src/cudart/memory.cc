#include "cudart/memory.h"

#include <fmt/format.h>

#include <map>

#include "cudart/stream.h"
#include "simt/check/memory_map.h"

namespace trine::cudart {
namespace {

struct Memory {
  std::mutex mutex;
  std::map<const void*, Allocation> all;  // by where they begin
  size_t device_bytes = 0;
};
Memory& memory() {
  static Memory& held = *new Memory;
  return held;
}

void* allocate(size_t bytes, cudaMemoryType type, const char* by, unsigned flags = 0) {
  if (!bytes) return nullptr;
  const auto& table = *machine().table;
  const int device = current_device();
  if (bytes > table.properties(device).memory_bytes)
    fail(cudaErrorMemoryAllocation,
         fmt::format("{} bytes; the device has {}", bytes, table.properties(device).memory_bytes));
  const bool pinned = type != cudaMemoryTypeDevice && table.allocate_host;
  void* begin = (pinned ? table.allocate_host : table.allocate)(device, bytes);
  if (simt::MemoryMap::is_enabled()) simt::MemoryMap::of_process().name(begin, by);
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  held.all[begin] = {static_cast<char*>(begin), bytes, type, device, flags, pinned};
  if (type != cudaMemoryTypeHost) held.device_bytes += bytes;
  return begin;
}

enum class Kind : uint8_t { device, host, registered };
Kind kind_of(const Allocation& allocation) {
  if (allocation.registered) return Kind::registered;
  return allocation.type == cudaMemoryTypeHost ? Kind::host : Kind::device;
}

// Of an allocation that begins here and is of this kind.
Allocation forget(void* begin, Kind kind, cudaError_t otherwise = cudaErrorInvalidValue) {
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  const auto found = held.all.find(begin);
  need(found != held.all.end() && kind_of(found->second) == kind, otherwise);
  const Allocation allocation = found->second;
  held.all.erase(found);
  if (allocation.type != cudaMemoryTypeHost) held.device_bytes -= allocation.bytes;
  return allocation;
}

void release(const Allocation& allocation) {
  const auto& table = *machine().table;
  (allocation.pinned ? table.free_host : table.free)(allocation.device, allocation.begin);
}

// A part of the range, or all, is known already.
bool holds_part_of(const Memory& held, const char* begin, size_t bytes) {
  const auto behind = held.all.lower_bound(begin + bytes);
  if (behind == held.all.begin()) return false;
  const Allocation& last = std::prev(behind)->second;
  return begin < last.begin + last.bytes;
}

// The device that registers sees to it that all of them may use the memory.
void* register_with_device(void* begin, size_t bytes, bool read_only) {
  const auto& table = *machine().table;
  if (!table.register_host) return nullptr;
  const int device = current_device();
  table.register_host(device, begin, bytes, read_only);
  void* there = table.host_address ? table.host_address(device, begin) : nullptr;
  return there == begin ? nullptr : there;
}

constexpr size_t kPitch = 512;
size_t pitch_of(size_t width) { return (width + kPitch - 1) / kPitch * kPitch; }

}  // namespace

bool find_allocation(const void* address, Allocation& found) {
  Memory& held = memory();
  const std::lock_guard lock(held.mutex);
  auto after = held.all.upper_bound(address);
  if (after == held.all.begin()) return false;
  found = std::prev(after)->second;
  return static_cast<const char*>(address) < found.begin + found.bytes;
}

void need_inside(const void* address, size_t bytes) {
  Allocation found;
  if (!bytes || !find_allocation(address, found)) return;
  const size_t left = found.bytes - static_cast<size_t>(static_cast<const char*>(address) - found.begin);
  if (bytes > left)
    fail(cudaErrorInvalidValue,
         fmt::format("{} bytes, where an allocation of {} has {} left", bytes, found.bytes, left));
}

}  // namespace trine::cudart

using namespace trine::cudart;
namespace simt = trine::simt;

cudaError_t cudaMalloc(void** out, size_t bytes) {
  return call([&] {
    need(out);
    *out = allocate(bytes, cudaMemoryTypeDevice, "cudaMalloc");
  });
}

cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  return call([&] {
    need(out && bytes && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost));
    *out = allocate(bytes, cudaMemoryTypeManaged, "cudaMallocManaged");
  });
}

cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  return call([&] {
    need(out && flags < 8);
    *out = allocate(bytes, cudaMemoryTypeHost, "cudaHostAlloc", flags);
  });
}
cudaError_t cudaMallocHost(void** out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }

cudaError_t cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return call([&] {
    need(out && pitch && width < SIZE_MAX - kPitch);
    *pitch = pitch_of(width);
    need(!height || *pitch <= SIZE_MAX / height, cudaErrorMemoryAllocation);
    *out = allocate(*pitch * height, cudaMemoryTypeDevice, "cudaMallocPitch");
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return call([&] {
    need(out && extent.width < SIZE_MAX - kPitch);
    const size_t pitch = pitch_of(extent.width);
    need(!extent.height || !extent.depth || pitch <= SIZE_MAX / extent.height / extent.depth,
         cudaErrorMemoryAllocation);
    *out = {allocate(pitch * extent.height * extent.depth, cudaMemoryTypeDevice, "cudaMalloc3D"), pitch, extent.width,
            extent.height};
  });
}

// As cudaFree does, what the device was given is waited for.
cudaError_t cudaFree(void* begin) {
  return call([&] {
    machine();
    if (!begin) return;
    const Allocation allocation = forget(begin, Kind::device);
    if (machine().gpu) synchronize_all();
    release(allocation);
  });
}

cudaError_t cudaFreeHost(void* begin) {
  return call([&] {
    if (!begin) return;
    const Allocation allocation = forget(begin, Kind::host);
    if (machine().gpu) synchronize_all();
    release(allocation);
  });
}

cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return call([&] {
    need(out);
    CUstream_st& on = stream_of(stream);
    need(!on.capture || !on.capture->open, cudaErrorStreamCaptureUnsupported);
    *out = allocate(bytes, cudaMemoryTypeDevice, "cudaMallocAsync");
  });
}

cudaError_t cudaFreeAsync(void* begin, cudaStream_t stream) {
  return call([&] {
    CUstream_st& on = stream_of(stream);
    if (!begin) return;
    const Allocation allocation = forget(begin, Kind::device);
    if (machine().gpu) synchronize(on);
    release(allocation);
  });
}

cudaError_t cudaHostRegister(void* begin, size_t bytes, unsigned flags) {
  return call([&] {
    need(begin && bytes && flags < 16 && reinterpret_cast<uintptr_t>(begin) <= UINTPTR_MAX - bytes);
    if (flags & cudaHostRegisterIoMemory) fail(cudaErrorNotSupported, "cudaHostRegisterIoMemory");
    auto* from = static_cast<char*>(begin);
    Memory& held = memory();
    const std::lock_guard lock(held.mutex);
    need(!holds_part_of(held, from, bytes), cudaErrorHostMemoryAlreadyRegistered);
    void* there = register_with_device(begin, bytes, flags & cudaHostRegisterReadOnly);
    held.all[begin] = {from,  bytes, cudaMemoryTypeHost,       current_device(), flags,
                       false, true,  static_cast<char*>(there)};
    if (simt::MemoryMap::is_enabled())
      simt::MemoryMap::of_process().add(reinterpret_cast<uint64_t>(begin), bytes, simt::RegionKind::host,
                                        "registered memory (cudaHostRegister)");
  });
}

cudaError_t cudaHostUnregister(void* begin) {
  return call([&] {
    need(begin);
    const Allocation there = forget(begin, Kind::registered, cudaErrorHostMemoryNotRegistered);
    const auto& table = *machine().table;
    if (table.unregister_host) table.unregister_host(there.device, begin);
    if (simt::MemoryMap::is_enabled()) simt::MemoryMap::of_process().remove(reinterpret_cast<uint64_t>(begin));
  });
}

cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return call([&] {
    Allocation there;
    need(out && flags == 0 && find_allocation(host, there) && there.type == cudaMemoryTypeHost);
    *out = there.for_kernels(host);
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&] {
    Allocation there;
    need(flags && find_allocation(host, there) && there.type == cudaMemoryTypeHost);
    const unsigned kept = cudaHostAllocPortable | (there.registered ? 0 : cudaHostAllocWriteCombined);
    *flags = (there.flags & kept) | cudaHostAllocMapped;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    need(free && total);
    *total = machine().table->properties(current_device()).memory_bytes;
    const std::lock_guard lock(memory().mutex);
    *free = *total - std::min(*total, memory().device_bytes);
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* address) {
  return call([&] {
    need(out);
    Allocation there;
    void* same = const_cast<void*>(address);
    if (!find_allocation(address, there)) *out = {cudaMemoryTypeUnregistered, -2, nullptr, same};
    else
      *out = {there.type, there.device, there.for_kernels(address),
              there.type == cudaMemoryTypeDevice ? nullptr : same};
  });
}

cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, int, cudaStream_t stream) {
  return call([&] {
    stream_of(stream);
    need_inside(address, bytes);
  });
}
cudaError_t cudaMemAdvise(const void* address, size_t bytes, cudaMemoryAdvise, int) {
  return call([&] { need_inside(address, bytes); });
}
