#include "backends/cpu/kernels/resize/resize_kernel.h"

namespace trine::cpu {

const ResizeIsa kResizeAvx2 = {blend};

}  // namespace trine::cpu
