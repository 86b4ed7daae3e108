#include "backends/cpu/primitives/transform/transform_kernel.h"

namespace trine::cpu {

const TransformKernel kTransformAvx512 = transform;

}  // namespace trine::cpu
