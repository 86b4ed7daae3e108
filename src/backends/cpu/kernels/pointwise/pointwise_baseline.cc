#include "backends/cpu/kernels/pointwise/pointwise_kernel.h"

namespace trine::cpu {

const PointwiseIsa kPointwiseBaseline = kKernels;

}  // namespace trine::cpu
