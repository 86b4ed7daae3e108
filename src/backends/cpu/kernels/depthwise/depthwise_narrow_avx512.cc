#include "backends/cpu/kernels/depthwise/depthwise_narrow.h"

namespace trine::cpu {

constinit const DepthwiseIsa kDepthwiseBf16Avx512 = make_3x3_isa<Bf16Pixels>(DType::bf16, CpuLevel::avx512);
constinit const DepthwiseIsa kDepthwiseInt8Avx512 = make_3x3_isa<BytePixels>(DType::u8, CpuLevel::avx512);

}  // namespace trine::cpu
