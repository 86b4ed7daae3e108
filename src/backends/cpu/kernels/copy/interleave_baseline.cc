#include "backends/cpu/kernels/copy/interleave_kernel.h"

namespace trine::cpu {

constinit const InterleaveIsa kInterleaveBaseline = make_interleave_isa();

}  // namespace trine::cpu
