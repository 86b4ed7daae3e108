#include "backends/cpu/primitives/reduce/reduce_kernel.h"

namespace trine::cpu {

const ReduceIsa kReduceAvx512 = kKernels;

}  // namespace trine::cpu
