#include "backends/cpu/kernels/copy/interleave_kernel.h"

namespace trine::cpu {

constinit const InterleaveIsa kInterleaveAvx512 = make_interleave_isa();

}  // namespace trine::cpu
