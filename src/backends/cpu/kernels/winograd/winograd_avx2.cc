#include "backends/cpu/kernels/winograd/winograd_kernel.h"

namespace trine::cpu {

constinit const WinogradIsa kWinograd2Avx2 = {2, DType::f32, input<2, F32, F32>, output<2, F32>, filter<2>};
constinit const WinogradIsa kWinograd4Avx2 = {4, DType::f32, input<4, F32, F32>, output<4, F32>, filter<4>};

}  // namespace trine::cpu
