// Indices that are sums of 32 bits without overflow become sums of 64 bits, so that what was affine still is once it is
// an address: sext(a + b) = sext(a) + sext(b). Lane 0's sum, which stands for all, may overflow where lane 0 does not
// run; in 64 bits it does not.
#pragma once

#include "simt/compile/lanes/shapes.h"

namespace trine::simt::lanes {

void widen_indices(llvm::Function& kernel, const Shapes& shapes);

}  // namespace trine::simt::lanes
