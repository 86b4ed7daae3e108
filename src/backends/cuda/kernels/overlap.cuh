// Overlap with the kernels before and behind this one (LaunchShape::overlap), from compute capability 9.0 on.
#pragma once

namespace trine {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// The kernel behind this one may begin, and waits in itself.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
// Until the kernel before this one is done: its results are there, and what it reads may be written.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
__device__ inline void let_next_begin() {}
__device__ inline void wait_for_previous() {}
#endif

// How a kernel begins that cuda::launch() launches.
__device__ inline void meet_neighbours() {
  let_next_begin();
  wait_for_previous();
}

}  // namespace trine
