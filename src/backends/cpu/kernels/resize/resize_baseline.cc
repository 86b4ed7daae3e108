#include "backends/cpu/kernels/resize/resize_kernel.h"

namespace trine::cpu {

const ResizeIsa kResizeBaseline = {blend};

}  // namespace trine::cpu
