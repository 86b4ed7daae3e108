#include "simt/compile/ptx_unroll.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace trine::simt {

llvm::PreservedAnalyses LeaveUnknownLoops::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (!evolution.getSmallConstantTripCount(loop))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
  return llvm::PreservedAnalyses::all();
}

}  // namespace trine::simt
