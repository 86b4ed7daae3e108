// Plans on devices: what libtrine_gpu, opened when it is first needed, does for sessions, builds and inspection.
#pragma once

#include "plan/runner.h"

namespace trine {

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual const Target& target() const = 0;
  // Weights are uploaded once for all runners of plans of one graph.
  virtual std::unique_ptr<Runner> runner(std::shared_ptr<const Plan> plan, bool graphs = true) = 0;
  // Compiled kernels of segments prepared for this device, for files; empty: none are kept for it.
  virtual std::string code(std::span<const std::unique_ptr<Segment>> segments) = 0;
  // Takes kernels from such bytes, for as long as what comes back is held. Throws Error{invalid_engine}.
  virtual std::shared_ptr<const void> adopt(std::string_view code) = 0;
};

inline bool is_this_cpu(std::string_view device) { return device.empty() || device == "cpu"; }

// "cuda:0", or "simt": the plan and kernels of a device, on this CPU. One for each device. Throws Error{device} that
// says what is missing.
std::shared_ptr<DeviceRuntime> open_device(const std::string& device);

// What libtrine_gpu exports under the names trine_gpu_stamp and trine_gpu_open.
using DeviceStampFunction = const char* (*)();
using DeviceOpenFunction = void (*)(const std::string& device, std::shared_ptr<DeviceRuntime>& opened);

}  // namespace trine
