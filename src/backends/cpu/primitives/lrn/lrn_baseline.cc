#include "backends/cpu/primitives/lrn/lrn_kernel.h"

namespace trine::cpu {

const LrnIsa kLrnBaseline = kKernels;

}  // namespace trine::cpu
