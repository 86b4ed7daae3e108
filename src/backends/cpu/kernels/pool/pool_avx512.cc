#include "backends/cpu/kernels/pool/pool_kernel.h"

namespace trine::cpu {

const PoolIsa kPoolAvx512 = kKernels;

}  // namespace trine::cpu
