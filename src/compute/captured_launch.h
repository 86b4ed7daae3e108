// A kernel launch in a graph: what a replay needs when the graph is a list, and an update always.
#pragma once

#include <memory>
#include <vector>

#include "compute/module_state.h"

namespace trine::compute {

struct CapturedLaunch {
  std::shared_ptr<const Kernel::State> kernel;
  void* operation = nullptr;  // of the device's graph
  LaunchShape shape;
  std::vector<std::vector<char>> arguments;
  std::vector<const void*> pointers;  // to them

  void set(const LaunchShape& new_shape, const void* const* from) {
    shape = new_shape;
    const std::vector<uint32_t>& bytes = kernel->properties.parameter_bytes;
    arguments.resize(bytes.size());
    pointers.resize(bytes.size() + 1);  // data() is never null
    for (size_t i = 0; i < bytes.size(); ++i) {
      arguments[i].assign(static_cast<const char*>(from[i]), static_cast<const char*>(from[i]) + bytes[i]);
      pointers[i] = arguments[i].data();
    }
  }
};

}  // namespace trine::compute
