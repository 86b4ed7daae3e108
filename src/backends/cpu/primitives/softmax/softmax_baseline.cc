#include "backends/cpu/primitives/softmax/softmax_kernel.h"

namespace trine::cpu {

const SoftmaxIsa kSoftmaxBaseline = kKernels;

}  // namespace trine::cpu
