#include "backends/cpu/kernels/depthwise/depthwise_kernel.h"

namespace trine::cpu {

constinit const DepthwiseIsa kDepthwiseAvx512 = make_fast_isa(CpuLevel::avx512);

}  // namespace trine::cpu
