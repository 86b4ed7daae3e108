#include "backends/cpu/kernels/gemm/tile_kernel.h"

namespace trine::cpu {

// 16 registers of 4 floats: 2 x 16.
const GemmIsa kGemmBaseline = {
    CpuLevel::baseline,
    {0, 2, 0, 0, 0},
    {{}, {nullptr, run_tile<1, 1>, run_tile<2, 1>}, {}, {}, {}},
    pack_panel,
    pack_panel_transposed,
    transpose,
    8,
};

}  // namespace trine::cpu
