#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/intrinsics.h"
#include "simt/compile/lanes/prepare.h"

namespace trine::simt::lanes {
namespace {

// Whether the value is what another thread may have put there, so that a loop that asks for it may wait for that
// thread. An update by compare-and-swap expects what it read the round before, and succeeds by itself.
bool told_by_others(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isVolatile() || load->isAtomic();
  if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(swap->getCompareOperand());
  return llvm::isa<llvm::AtomicRMWInst>(instruction);
}

bool waits(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  llvm::SmallVector<const llvm::Value*> todo;
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  for (llvm::BasicBlock* block : exiting)
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()))
      todo.push_back(branch->getCondition());
  while (!todo.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(todo.pop_back_val());
    if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (told_by_others(*instruction, loop)) return true;
    todo.append(instruction->value_op_begin(), instruction->value_op_end());
    // What is chosen by a branch depends on its condition.
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi && phi->getParent() != loop.getHeader())
      for (const llvm::BasicBlock* from : phi->blocks())
        for (const llvm::BasicBlock* at : {from, from->getSinglePredecessor()})
          if (const auto* branch = at ? llvm::dyn_cast<llvm::BranchInst>(at->getTerminator()) : nullptr;
              branch && branch->isConditional())
            todo.push_back(branch->getCondition());
  }
  return false;
}

}  // namespace

void refuse_spinning(llvm::Function& kernel) {
  const llvm::DominatorTree tree(kernel);
  const llvm::LoopInfo loops(tree);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (waits(*loop)) refuse("a loop that may wait for other threads");
}

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
