#include "backends/cpu/kernels/depthwise/depthwise_narrow.h"

namespace trine::cpu {

constinit const DepthwiseIsa kDepthwiseBf16Baseline = make_general_isa<Bf16Pixels>(DType::bf16, CpuLevel::baseline);
constinit const DepthwiseIsa kDepthwiseInt8Baseline = make_general_isa<BytePixels>(DType::u8, CpuLevel::baseline);

}  // namespace trine::cpu
