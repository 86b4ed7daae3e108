#include "backends/cpu/kernels/transform/transform_kernel.h"

namespace trine::cpu {

const TransformKernel kTransformAvx2 = transform;

}  // namespace trine::cpu
