// What modules and kernels hold, for the files of src/compute.
#pragma once

#include "compute/device_state.h"
#include "compute/kernel_table.h"
#include "compute/stream_submit.h"

namespace trine::compute {

struct Module::State {
  const KernelTable* table;
  Device device;
  ModuleHandle handle;

  // Devices and streams open themselves to modules and kernels; textures ask here.
  static const Device::State& device_of(const Device& device) { return *device.state_; }
};

struct Kernel::State {
  std::shared_ptr<const Module::State> module;
  KernelHandle handle;
  KernelProperties properties;

  template <class Work>
  static void submit(Stream& stream, const Work& work) {
    stream.submit(work);
  }
};

// Throws Error{invalid_argument}. `bytes` may be null.
void check_launch(const KernelProperties& kernel, const LaunchShape& shape, const uint32_t* bytes, size_t count);

}  // namespace trine::compute
