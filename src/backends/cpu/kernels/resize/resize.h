// Row functions of resizing, vectorised per CPU level.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

struct ResizeIsa {
  // to[c] = sum over k < count of weight[k] * from[k][c],  c < n;  count is 1 to 8
  void (*blend)(const float* const* from, const float* weight, int count, int64_t n, float* to);
};
extern const ResizeIsa kResizeBaseline;
#if defined(__x86_64__)
extern const ResizeIsa kResizeAvx2;
extern const ResizeIsa kResizeAvx512;
#endif

}  // namespace trine::cpu
