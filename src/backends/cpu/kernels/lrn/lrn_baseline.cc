#include "backends/cpu/kernels/lrn/lrn_kernel.h"

namespace trine::cpu {

const LrnIsa kLrnBaseline = kKernels;

}  // namespace trine::cpu
