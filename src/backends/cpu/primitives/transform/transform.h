// Kernels of transforms: runs of elements from one type to another.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"
#include "trine/base/dtype.h"

namespace trine::cpu {

struct TransformRun {
  DType in_type, out_type;
  const void* in;
  void* out;
  int64_t in_stride, out_stride, count;  // strides in elements
  float alpha, beta;
};

using TransformKernel = void (*)(const TransformRun&);
extern const TransformKernel kTransformBaseline;
#if defined(__x86_64__)
extern const TransformKernel kTransformAvx2;
extern const TransformKernel kTransformAvx512;
#endif
TransformKernel transform_kernel(CpuLevel level);

}  // namespace trine::cpu
