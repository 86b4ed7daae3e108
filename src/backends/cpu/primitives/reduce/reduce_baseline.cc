#include "backends/cpu/primitives/reduce/reduce_kernel.h"

namespace trine::cpu {

const ReduceIsa kReduceBaseline = kKernels;

}  // namespace trine::cpu
