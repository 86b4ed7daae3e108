#include "backends/cpu/primitives/pointwise/pointwise_kernel.h"

namespace trine::cpu {

const PointwiseIsa kPointwiseBaseline = kKernels;

}  // namespace trine::cpu
