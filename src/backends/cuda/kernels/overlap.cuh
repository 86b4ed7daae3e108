// Overlap with the kernels before and behind this one (LaunchShape::overlap), from compute capability 9.0 on.
#pragma once

namespace trine {

// Known when code is generated, not when it is parsed.
__device__ inline bool can_overlap() { return __nvvm_reflect("__CUDA_ARCH") >= 900; }

// The kernel behind this one may begin, and waits in itself.
__device__ inline void let_next_begin() {
  if (can_overlap()) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Until the kernel before this one is done: its results are there, and what it reads may be written.
__device__ inline void wait_for_previous() {
  if (can_overlap()) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// How a kernel begins that cuda::launch() launches.
__device__ inline void meet_neighbours() {
  let_next_begin();
  wait_for_previous();
}

}  // namespace trine
