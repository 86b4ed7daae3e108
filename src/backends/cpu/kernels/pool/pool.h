// Pooling kernels, nhwc: one output pixel, all its channels at once.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

// The part of a window that lies inside the input: count[i] positions step[i] floats apart.
struct PoolWindow {
  const float* in;
  int64_t count[3];
  int64_t step[3];
  float* out;
  int channels;
  float scale;  // average: 1 / divisor
};

struct PoolIsa {
  void (*max)(const PoolWindow&);  // a NaN stays; an empty window gives -infinity
  void (*average)(const PoolWindow&);
};
extern const PoolIsa kPoolBaseline;
#if defined(__x86_64__)
extern const PoolIsa kPoolAvx2;
extern const PoolIsa kPoolAvx512;
#endif

}  // namespace trine::cpu
