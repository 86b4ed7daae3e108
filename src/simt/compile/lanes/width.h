// How many lanes a kernel is best run with.
#pragma once

#include "llvm/IR/Function.h"
#include "simt/compile/lanes/group.h"

namespace trine::simt::lanes {

struct Registers {
  int bits = 128, count = 16;  // of vectors
};

// The largest width with which what is live at once still fits the registers. Threads of one warp must not be split
// where the kernel has warp operations; rows of a block that are as long as a narrower group make vectors contiguous.
int choose_width(llvm::Function& kernel, const compute::Dim3& block, const Registers& registers);

}  // namespace trine::simt::lanes
