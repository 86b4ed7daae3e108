// Overlap with the kernels before and behind this one (LaunchShape::overlap).
#pragma once

namespace trine {

// The kernel behind this one may begin, and waits in itself.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
// Until the kernel before this one is done: its results are there, and what it reads may be written.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

}  // namespace trine
