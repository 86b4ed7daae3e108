#include "backends/cpu/kernels/depthwise/depthwise_kernel.h"

namespace trine::cpu {

// Only the general kernel: old machines get correctness, not 50 KB of tiles.
constinit const DepthwiseIsa kDepthwiseBaseline = {DType::f32, CpuLevel::baseline, kWidth, {}, general_tile<F32Pixels>};

}  // namespace trine::cpu
