// Row functions of sampling, on n channels that lie together, vectorised per CPU level.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

struct GridIsa {
  void (*add_scaled)(const float* from, int64_t n, float factor, float* to);  // to += factor * from
  float (*dot)(const float* a, const float* b, int64_t n);
};
extern const GridIsa kGridBaseline;
#if defined(__x86_64__)
extern const GridIsa kGridAvx2;
extern const GridIsa kGridAvx512;
#endif

}  // namespace trine::cpu
