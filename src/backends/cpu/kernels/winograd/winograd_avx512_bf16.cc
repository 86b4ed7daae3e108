#include "backends/cpu/kernels/winograd/winograd_kernel.h"

namespace trine::cpu {

constinit const WinogradIsa kWinograd4Bf16Avx512 = {4, DType::bf16, input<4, Bf16, F32>, output<4, Bf16>, nullptr};
constinit const WinogradIsa kWinograd2Avx512Bf16 = {2, DType::bf16, input<2, Bf16, Bf16>, output<2, Bf16>, nullptr};

}  // namespace trine::cpu
