// Kernels of reductions.
#pragma once

#include "trine/base/cpu.h"
#include "trine/dnn/tensor_ops.h"

namespace trine::cpu {

struct ReduceIsa {
  // The reduction of n contiguous elements after that of others, `so_far`.
  double (*row)(dnn::ReduceKind kind, const float* x, int64_t n, double so_far);
  // Column by column, `rows` of them `stride` apart, into what `result` holds.
  void (*columns)(dnn::ReduceKind kind, const float* x, int64_t rows, int64_t stride, int columns, float* result);
};
extern const ReduceIsa kReduceBaseline;
#if defined(__x86_64__)
extern const ReduceIsa kReduceAvx2;
extern const ReduceIsa kReduceAvx512;
#endif

}  // namespace trine::cpu
