#include "backends/cpu/kernels/pool/pool_kernel.h"

namespace trine::cpu {

const PoolIsa kPoolAvx2 = kKernels;

}  // namespace trine::cpu
