#include "plan/device_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/open_library.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr const char* kModule = "libtrine_gpu.so";

struct Module {
  DeviceOpenFunction open = nullptr;
  std::string why_not;
};

Module open_module() {
  Module module;
  const OpenedLibrary library = open_library(kModule, reinterpret_cast<const void*>(&open_device));
  module.why_not = library.why_not;
  if (!library.handle) return module;
  const auto stamp = reinterpret_cast<DeviceStampFunction>(dlsym(library.handle, "trine_gpu_stamp"));
  if (stamp && std::string_view(stamp()) == TRINE_PLAN_STAMP)
    module.open = reinterpret_cast<DeviceOpenFunction>(dlsym(library.handle, "trine_gpu_open"));
  if (!module.open) module.why_not = "it belongs to another build of this library";
  return module;
}

}  // namespace

std::shared_ptr<DeviceRuntime> open_device(const std::string& device) {
  static const Module module = open_module();
  if (!module.open)
    throw Error(ErrorCode::device, fmt::format("device '{}': no {}: {}; install it beside libtrine_rt.so, or use cpu",
                                               device, kModule, module.why_not));
  std::shared_ptr<DeviceRuntime> opened;
  module.open(device, opened);
  return opened;
}

}  // namespace trine
