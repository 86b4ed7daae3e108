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

// Maxima of rows of floats, element by element, for several items in turn:
//   out[item * out_step + i] = max over r < count of rows[r][item * row_step + i],  i < length
constexpr int kMostPoolRows = 9;
struct PoolRows {
  const float* rows[kMostPoolRows];
  int count;  // at least 1
  int64_t items, length;
  int64_t row_step, out_step;
  float* out;

  // Items without gaps are one.
  void merge() {
    if (row_step == length && out_step == length) length *= items, items = 1;
  }
};

// The same window of x (max only), of dx, and the channels of dy that go into it.
struct PoolGradientWindow {
  const float* x;
  float* dx;  // is added to
  int64_t count[3];
  int64_t step[3];
  const float* dy;
  int channels;
  float scale;
};

struct PoolIsa {
  void (*max)(const PoolWindow&);  // a NaN stays; an empty window gives -infinity
  void (*average)(const PoolWindow&);
  void (*max_of_rows)(const PoolRows&);
  void (*max_gradient)(const PoolGradientWindow&);
  void (*average_gradient)(const PoolGradientWindow&);
};
extern const PoolIsa kPoolBaseline;
#if defined(__x86_64__)
extern const PoolIsa kPoolAvx2;
extern const PoolIsa kPoolAvx512;
#endif
const PoolIsa& pool_isa(CpuLevel level);

}  // namespace trine::cpu
