#include "backends/cpu/kernels/depthwise/depthwise_kernel.h"

namespace trine::cpu {

// Only the general kernel: old machines get correctness, not 50 KB of tiles.
const DepthwiseIsa kDepthwiseBaseline = {CpuLevel::baseline, kWidth, {}, general_tile};

}  // namespace trine::cpu
