#include "backends/cpu/kernels/pool/pool_kernel.h"

namespace trine::cpu {

const PoolIsa kPoolBaseline = {pool<Max>, pool<Average>};

}  // namespace trine::cpu
