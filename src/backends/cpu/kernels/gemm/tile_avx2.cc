#include "backends/cpu/kernels/gemm/tile_f32.h"

namespace trine::cpu {

// 16 registers: 6 x 16. Two panels only for few rows, where they hide the latency of the sums.
constinit const GemmIsa kGemmAvx2 = make_f32_isa<6, 2, 0, 0>(CpuLevel::avx2, 32);

}  // namespace trine::cpu
