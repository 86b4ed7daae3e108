// Loops of kernels for NVIDIA GPUs.
#pragma once

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace trine::simt {

// Asks for short loops to be written out whole, beyond LLVM's own bound: what is computed of their counters becomes
// constants, and loads of neighbours become one.
struct UnrollShortLoops : llvm::PassInfoMixin<UnrollShortLoops> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& results,
                              llvm::LPMUpdater&);
};

}  // namespace trine::simt
