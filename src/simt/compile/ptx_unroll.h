// Loops of kernels for NVIDIA GPUs.
#pragma once

#include <llvm/IR/PassManager.h>

namespace trine::simt {

// Leaves loops whose count is not known to the driver's compiler, which unrolls them itself: what LLVM unrolls it would
// unroll again.
struct LeaveUnknownLoops : llvm::PassInfoMixin<LeaveUnknownLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace trine::simt
