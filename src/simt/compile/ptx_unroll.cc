#include "simt/compile/ptx_unroll.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace trine::simt {

constexpr size_t kMostInstructions = 1200;  // of all rounds together

llvm::PreservedAnalyses UnrollShortLoops::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                              llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater&) {
  const size_t rounds = results.SE.getSmallConstantTripCount(&loop);
  const bool asked = llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified;
  if (!loop.isInnermost() || !rounds || asked) return llvm::PreservedAnalyses::all();
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->size();
  if (rounds * instructions <= kMostInstructions) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
  return llvm::PreservedAnalyses::all();
}

}  // namespace trine::simt
