#include "backends/cpu/kernels/norm/norm_kernel.h"

namespace trine::cpu {

const NormIsa kNormBaseline = kKernels;

}  // namespace trine::cpu
