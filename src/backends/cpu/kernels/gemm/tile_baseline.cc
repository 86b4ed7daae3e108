#include "backends/cpu/kernels/gemm/tile_f32.h"

namespace trine::cpu {

// 16 registers of 4 floats: 2 x 16.
constinit const GemmIsa kGemmBaseline = make_f32_isa<2, 0, 0, 0>(CpuLevel::baseline, 8);

}  // namespace trine::cpu
