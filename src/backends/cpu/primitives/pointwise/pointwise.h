// Kernels of one element at a time, over contiguous runs.
#pragma once

#include "trine/base/cpu.h"
#include "trine/dnn/pointwise.h"

namespace trine::cpu {

struct UnaryRun {
  dnn::Unary function;
  float alpha, beta;
  const float *x, *y, *dy;  // y and dy: of gradients
  float* out;
  int64_t count;
};

struct BinaryRun {
  dnn::Binary op;
  float alpha1, alpha2, beta;
  const float *a, *b, *c;  // c null when it is not read
  bool b_repeats;          // one b for the whole run
  float* y;
  int64_t count;
};

// `first` is the run's place in the tensor, a multiple of 4.
struct DropoutRun {
  uint64_t seed, offset;
  uint32_t threshold;
  float scale;
  int64_t first;
  const float* x;
  float* y;
  int64_t count;
};

struct PointwiseIsa {
  void (*unary)(const UnaryRun&);
  void (*unary_gradient)(const UnaryRun&);
  void (*binary)(const BinaryRun&);
  void (*dropout)(const DropoutRun&);
};
extern const PointwiseIsa kPointwiseBaseline;
#if defined(__x86_64__)
extern const PointwiseIsa kPointwiseAvx2;
extern const PointwiseIsa kPointwiseAvx512;
#endif
const PointwiseIsa& pointwise_isa(CpuLevel level);

}  // namespace trine::cpu
