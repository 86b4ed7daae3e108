#include "backends/cpu/kernels/pool/pool_kernel.h"

namespace trine::cpu {

const PoolIsa kPoolBaseline = kKernels;

}  // namespace trine::cpu
