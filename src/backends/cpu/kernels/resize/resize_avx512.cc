#include "backends/cpu/kernels/resize/resize_kernel.h"

namespace trine::cpu {

const ResizeIsa kResizeAvx512 = {blend};

}  // namespace trine::cpu
