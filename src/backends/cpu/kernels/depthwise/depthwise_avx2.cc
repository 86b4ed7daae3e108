#include "backends/cpu/kernels/depthwise/depthwise_kernel.h"

namespace trine::cpu {

constinit const DepthwiseIsa kDepthwiseAvx2 = make_fast_isa(CpuLevel::avx2);

}  // namespace trine::cpu
