#include "backends/cpu/primitives/norm/norm_kernel.h"

namespace trine::cpu {

const NormIsa kNormAvx2 = kKernels;

}  // namespace trine::cpu
