#include "backends/cpu/kernels/reduce/reduce_kernel.h"

namespace trine::cpu {

const ReduceIsa kReduceAvx512 = kKernels;

}  // namespace trine::cpu
