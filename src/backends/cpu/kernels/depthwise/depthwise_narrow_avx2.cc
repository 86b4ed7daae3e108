#include "backends/cpu/kernels/depthwise/depthwise_narrow.h"

namespace trine::cpu {

constinit const DepthwiseIsa kDepthwiseBf16Avx2 = make_general_isa<Bf16Pixels>(DType::bf16, CpuLevel::avx2);
constinit const DepthwiseIsa kDepthwiseInt8Avx2 = make_general_isa<BytePixels>(DType::u8, CpuLevel::avx2);

}  // namespace trine::cpu
