#include "backends/cpu/primitives/pointwise/pointwise_kernel.h"

namespace trine::cpu {

const PointwiseIsa kPointwiseAvx512 = kKernels;

}  // namespace trine::cpu
