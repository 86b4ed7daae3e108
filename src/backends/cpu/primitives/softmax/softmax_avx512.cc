#include "backends/cpu/primitives/softmax/softmax_kernel.h"

namespace trine::cpu {

const SoftmaxIsa kSoftmaxAvx512 = kKernels;

}  // namespace trine::cpu
