// What modules and kernels hold, for the files of src/compute.
#pragma once

#include "compute/kernel_table.h"

namespace trine::compute {

struct Module::State {
  const KernelTable* table;
  Device device;
  ModuleHandle handle;
};

struct Kernel::State {
  std::shared_ptr<const Module::State> module;
  KernelHandle handle;
  KernelProperties properties;
};

// Throws Error{invalid_argument}. `bytes` may be null.
void check_launch(const KernelProperties& kernel, const LaunchShape& shape, const uint32_t* bytes, size_t count);

}  // namespace trine::compute
