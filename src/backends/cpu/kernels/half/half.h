// f16 and bf16 to f32 and back, rounding half to even.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"
#include "trine/base/dtype.h"

namespace trine::cpu {

struct HalfIsa {
  void (*widen)(DType type, const void* from, int64_t n, float* to);
  void (*narrow)(DType type, const float* from, int64_t n, void* to);
};
extern const HalfIsa kHalfBaseline;
#if defined(__x86_64__)
extern const HalfIsa kHalfAvx2;
#endif
const HalfIsa& half_isa(CpuLevel level);

}  // namespace trine::cpu
