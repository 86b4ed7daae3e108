// Axes of strided work: joined where they are one run, and as kernels count them.
#pragma once

#include "backends/cuda/rows/row_support.h"

namespace trine::cuda {

struct Axis {
  int64_t size, in, out;  // strides in elements
};

// The dimensions that matter, outermost in the output first, one run on both sides joined; one at least.
std::vector<Axis> axes_of(const Dims& dims, const Dims& in_strides, const Dims& out_strides);
CopySizes sizes_of(const std::vector<Axis>& axes);

// Of a dense tensor; those of dimensions of 1 are 0, so that it repeats where it is broadcast.
Dims dense_strides(const Dims& dims);

}  // namespace trine::cuda
