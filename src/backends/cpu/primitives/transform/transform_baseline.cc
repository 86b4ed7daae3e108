#include "backends/cpu/primitives/transform/transform_kernel.h"

namespace trine::cpu {

const TransformKernel kTransformBaseline = transform;

}  // namespace trine::cpu
