#include "backends/cpu/kernels/gemm/tile_kernel.h"

namespace trine::cpu {

// 32 registers: 14 x 32, 9 x 48 and 6 x 64 leave room for the row of B and a broadcast of A.
const GemmIsa kGemmAvx512 = {
    CpuLevel::avx512,
    {0, 14, 14, 9, 6},
    {{},
     {nullptr, run_tile<1, 1>, run_tile<2, 1>, run_tile<3, 1>, run_tile<4, 1>, run_tile<5, 1>, run_tile<6, 1>,
      run_tile<7, 1>, run_tile<8, 1>, run_tile<9, 1>, run_tile<10, 1>, run_tile<11, 1>, run_tile<12, 1>,
      run_tile<13, 1>, run_tile<14, 1>},
     {nullptr, run_tile<1, 2>, run_tile<2, 2>, run_tile<3, 2>, run_tile<4, 2>, run_tile<5, 2>, run_tile<6, 2>,
      run_tile<7, 2>, run_tile<8, 2>, run_tile<9, 2>, run_tile<10, 2>, run_tile<11, 2>, run_tile<12, 2>,
      run_tile<13, 2>, run_tile<14, 2>},
     {nullptr, run_tile<1, 3>, run_tile<2, 3>, run_tile<3, 3>, run_tile<4, 3>, run_tile<5, 3>, run_tile<6, 3>,
      run_tile<7, 3>, run_tile<8, 3>, run_tile<9, 3>},
     {nullptr, run_tile<1, 4>, run_tile<2, 4>, run_tile<3, 4>, run_tile<4, 4>, run_tile<5, 4>, run_tile<6, 4>}},
    pack_panel,
    pack_panel_transposed,
    transpose,
    32,
};

}  // namespace trine::cpu
