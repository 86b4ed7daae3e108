#include "backends/cpu/primitives/norm/norm_kernel.h"

namespace trine::cpu {

const NormIsa kNormBaseline = kKernels;

}  // namespace trine::cpu
