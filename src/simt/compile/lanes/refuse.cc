#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/intrinsics.h"
#include "simt/compile/lanes/prepare.h"

namespace trine::simt::lanes {
void refuse_unknown_calls(llvm::Function& kernel) {
  for (llvm::BasicBlock& block : kernel)
    for (llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && classify(*call) == CallKind::unknown)
        refuse("a call of " + call->getCalledOperand()->getName().str());
}

void isolate_barriers(llvm::Function& kernel) {
  llvm::SmallVector<llvm::CallInst*> barriers;
  for (llvm::BasicBlock& block : kernel)
    for (llvm::Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && classify(*call) == CallKind::barrier)
        barriers.push_back(call);
  for (llvm::CallInst* barrier : barriers) {
    llvm::BasicBlock* block = barrier->getParent();
    if (&*block->getFirstNonPHIOrDbg() != barrier || llvm::isa<llvm::PHINode>(block->front()))
      block = llvm::SplitBlock(block, barrier);
    llvm::SplitBlock(block, barrier->getNextNode());
  }
}

}  // namespace trine::simt::lanes
