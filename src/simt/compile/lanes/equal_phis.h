#pragma once

#include "llvm/IR/Function.h"

namespace trine::simt::lanes {

// What all ways to a join have computed alike is computed before they part. LLVM makes such phis where it removes
// partial redundancies and threads jumps; at a divergent join they would vary, and addresses with them.
void merge_equal_phis(llvm::Function& kernel);

}  // namespace trine::simt::lanes
