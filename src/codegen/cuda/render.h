// Loop kernels as CUDA C++. One text serves all shapes whose loops are laid out alike: sizes are arguments.
#pragma once

#include "codegen/loop_kernel.h"
#include "compute/device_launch.h"

namespace trine::codegen {

// What the device that will run it is like; see dnn::DeviceTraits.
struct RenderTarget {
  int multiprocessors = 1;
  uint32_t shared_bytes = 48 << 10;  // of a block, statically
  int pack_bytes = 16;               // that a thread takes of an operand at once, at most
  bool overlap = false;              // LaunchShape::overlap; compute capability 9.0
  bool wide_index = false;           // 64 bits though 32 would do: for tests
};

// Launches that compute `kernel` with every Dim bound; operand roles in and out count as the kernel's operands do, in
// the group's inputs and outputs. Throws Error{unsupported} that says what has no rendering, Error for a symbol that
// has no value.
compute::DeviceCall render_cuda(const LoopKernel& kernel, const Bindings& bindings, const RenderTarget& target);

}  // namespace trine::codegen
