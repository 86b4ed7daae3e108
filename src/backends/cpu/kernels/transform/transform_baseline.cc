#include "backends/cpu/kernels/transform/transform_kernel.h"

namespace trine::cpu {

const TransformKernel kTransformBaseline = transform;

}  // namespace trine::cpu
