#include "backends/cpu/kernels/gemm/tile_kernel.h"

namespace trine::cpu {

// 16 registers: 6 x 16. Two panels only for few rows, where they hide the latency of the sums.
const GemmIsa kGemmAvx2 = {
    CpuLevel::avx2,
    {0, 6, 2, 0, 0},
    {{},
     {nullptr, run_tile<1, 1>, run_tile<2, 1>, run_tile<3, 1>, run_tile<4, 1>, run_tile<5, 1>, run_tile<6, 1>},
     {nullptr, run_tile<1, 2>, run_tile<2, 2>},
     {},
     {}},
    pack_panel,
    pack_panel_transposed,
    transpose,
    32,
};

}  // namespace trine::cpu
