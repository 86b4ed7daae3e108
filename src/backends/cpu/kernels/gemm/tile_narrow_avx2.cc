#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {

// 16 registers: 4 x 16, beside two for each of B's vectors and two for a word of A.
constinit const GemmIsa kGemmBf16Avx2 = make_isa<Bf16ByF32, 4, 0, 0, 0>(DType::bf16, CpuLevel::avx2, {}, 26);
constinit const GemmIsa kGemmInt8Avx2 = make_isa<Int8By16, 4, 0, 0, 0>(DType::i8, CpuLevel::avx2, {}, 36);

}  // namespace trine::cpu
