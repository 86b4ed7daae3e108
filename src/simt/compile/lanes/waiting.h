// Loops that wait for what another thread writes. Lanes may run those that wait for other blocks, which run elsewhere
// or have run; who waits for a thread of its own block would wait for ever.
#pragma once

#include "llvm/IR/Function.h"
#include "trine/compute/module.h"

namespace trine::simt::lanes {

// Refuses kernels with loops that may wait for a thread of their block. What is left is told the runtime, by a call of
// trine_simt_wait in each round.
void admit_waiting(llvm::Function& kernel, const compute::Dim3& block);

// After it: whether blocks of the kernel may wait for those before them.
bool waits_for_blocks(const llvm::Function& kernel);

}  // namespace trine::simt::lanes
