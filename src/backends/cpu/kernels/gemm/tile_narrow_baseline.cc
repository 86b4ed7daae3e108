#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {

constinit const GemmIsa kGemmBf16Baseline = make_isa<Bf16ByF32, 2, 0, 0, 0>(DType::bf16, CpuLevel::baseline, {}, 6);
constinit const GemmIsa kGemmInt8Baseline = make_isa<Int8By16, 1, 0, 0, 0>(DType::i8, CpuLevel::baseline, {}, 4);

}  // namespace trine::cpu
