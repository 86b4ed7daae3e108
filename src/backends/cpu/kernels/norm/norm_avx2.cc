#include "backends/cpu/kernels/norm/norm_kernel.h"

namespace trine::cpu {

const NormIsa kNormAvx2 = kKernels;

}  // namespace trine::cpu
