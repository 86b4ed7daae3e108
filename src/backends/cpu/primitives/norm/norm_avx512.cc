#include "backends/cpu/primitives/norm/norm_kernel.h"

namespace trine::cpu {

const NormIsa kNormAvx512 = kKernels;

}  // namespace trine::cpu
