// Strides that varying values have in most groups: indices that are clamped to an edge, wrapped around, divided into a
// row and a column. Whether it is so is asked when the kernel runs; see step.cc.
#pragma once

#include <optional>

#include "simt/compile/lanes/shapes.h"

namespace trine::simt::lanes {

// Of pointers: in bytes. None: nothing is to be expected.
std::optional<int64_t> likely_stride(const llvm::Value& value, const Shapes& shapes, const llvm::DataLayout& layout,
                                     int depth = 0);

}  // namespace trine::simt::lanes
