#include "backends/cpu/kernels/softmax/softmax_kernel.h"

namespace trine::cpu {

const SoftmaxIsa kSoftmaxAvx2 = kKernels;

}  // namespace trine::cpu
