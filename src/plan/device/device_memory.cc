#include "plan/device/device_memory.h"

#include <algorithm>

namespace trine {

void* DeviceMemory::room(const MemoryUse& use, size_t bytes, compute::Stream& stream) {
  std::optional<compute::Buffer>& held = buffers_[use];
  if (!held || held->bytes() < bytes) {
    stream.synchronize();
    ++generation_;
    held.reset();  // before, so that the two need not fit together
    held = device_.allocate(std::max<size_t>(bytes, 1));
  }
  return held->data();
}

void* DeviceMemory::staging(const MemoryUse& use, size_t bytes, compute::Stream& stream) {
  std::optional<compute::HostBuffer>& held = staging_[use];
  if (!held || held->bytes() < bytes) {
    stream.synchronize();
    held.reset();
    held = device_.allocate_host(std::max<size_t>(bytes, 1));
  }
  return held->data();
}

size_t DeviceMemory::bytes() const {
  size_t sum = 0;
  for (const auto& [use, buffer] : buffers_) sum += buffer ? buffer->bytes() : 0;
  return sum;
}

}  // namespace trine
