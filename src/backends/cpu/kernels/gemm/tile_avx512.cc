#include "backends/cpu/kernels/gemm/tile_f32.h"

namespace trine::cpu {

// 32 registers: 12 x 32, 9 x 48 and 6 x 64 leave room for the row of B and a broadcast of A.
constinit const GemmIsa kGemmAvx512 = make_f32_isa<12, 12, 9, 6>(CpuLevel::avx512, 32);

}  // namespace trine::cpu
