#include "backends/cpu/primitives/pointwise/pointwise_kernel.h"

namespace trine::cpu {

const PointwiseIsa kPointwiseAvx2 = kKernels;

}  // namespace trine::cpu
