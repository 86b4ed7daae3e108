// Memory of one runner on a device: arenas, scratch memory, inputs and outputs, and host memory for what is on its way.
#pragma once

#include <map>
#include <optional>

#include "trine/compute/device.h"

namespace trine {

// What the memory is for, and which: the depth of a segment, or a value.
struct MemoryUse {
  enum class Kind : uint8_t { arena, workspace, input, output };
  Kind kind;
  int which = 0;
  auto operator<=>(const MemoryUse&) const = default;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(compute::Device device) : device_(std::move(device)) {}

  // At least so many bytes; what was there before is lost when it has to grow, for which `stream` must come to rest.
  // Throws Error{out_of_memory}, and may be asked for less then.
  void* room(const MemoryUse& use, size_t bytes, compute::Stream& stream);
  // Host memory that the device copies at full speed.
  void* staging(const MemoryUse& use, size_t bytes, compute::Stream& stream);
  // Changes when an address does.
  uint64_t generation() const { return generation_; }
  size_t bytes() const;  // on the device

 private:
  compute::Device device_;
  uint64_t generation_ = 0;
  std::map<MemoryUse, std::optional<compute::Buffer>> buffers_;
  std::map<MemoryUse, std::optional<compute::HostBuffer>> staging_;
};

}  // namespace trine
