#include "backends/cpu/primitives/transform/transform_kernel.h"

namespace trine::cpu {

const TransformKernel kTransformAvx2 = transform;

}  // namespace trine::cpu
