// A loop kernel as one function in CUDA C++.
#pragma once

#include "codegen/cuda/schedule.h"
#include "codegen/cuda/sizes.h"

namespace trine::codegen {

struct KernelText {
  std::string source;
  std::string kernel;         // its name
  std::vector<int> operands;  // of the LoopKernel, in the order of arguments; the first argument are the sizes
  compute::ArgumentBytes sizes;
  bool sizes_in_memory = false;  // that argument is their address: there are more than parameters hold
};

KernelText render_kernel(const BoundLoops& loops, const ThreadSchedule& schedule);

}  // namespace trine::codegen
