#include "backends/cpu/primitives/lrn/lrn_kernel.h"

namespace trine::cpu {

const LrnIsa kLrnAvx2 = kKernels;

}  // namespace trine::cpu
