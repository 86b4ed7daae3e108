// Softmax kernels. A job is a part of x[outer, axis, inner]: one row (inner = 1), or up to a block of columns at once.
#pragma once

#include "trine/base/cpu.h"
#include "trine/dnn/softmax.h"

namespace trine::cpu {

struct SoftmaxJob {
  dnn::SoftmaxKind kind;
  const float *x, *dy;  // of the gradient x is y
  float* out;
  int64_t axis, stride;  // along the axis; columns lie side by side
  int columns;           // not of rows
};

struct SoftmaxIsa {
  void (*row)(const SoftmaxJob&);
  void (*columns)(const SoftmaxJob&);
  void (*row_gradient)(const SoftmaxJob&);
  void (*columns_gradient)(const SoftmaxJob&);
};
extern const SoftmaxIsa kSoftmaxBaseline;
#if defined(__x86_64__)
extern const SoftmaxIsa kSoftmaxAvx2;
extern const SoftmaxIsa kSoftmaxAvx512;
#endif

}  // namespace trine::cpu
