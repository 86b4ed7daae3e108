#include "backends/cpu/kernels/pool/pool_kernel.h"

namespace trine::cpu {

const PoolIsa kPoolAvx512 = {pool<Max>, pool<Average>};

}  // namespace trine::cpu
