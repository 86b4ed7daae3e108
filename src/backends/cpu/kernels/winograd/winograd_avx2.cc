#include "backends/cpu/kernels/winograd/winograd_kernel.h"

namespace trine::cpu {

const WinogradIsa kWinogradAvx2 = {input<2>, output<2>, input<4>, output<4>, filter<2>, filter<4>};

}  // namespace trine::cpu
