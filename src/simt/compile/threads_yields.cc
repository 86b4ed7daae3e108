// Threads of a block run one at a time: a loop that waits for another thread must let it run. Such loops have an exit
// that depends on what an atomic or volatile access returns.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <set>

#include "simt/compile/threads.h"

namespace trine::simt {
namespace {

bool sees_others(const llvm::Instruction& instruction) {
  return instruction.mayReadFromMemory() && (instruction.isAtomic() || instruction.isVolatile()) &&
         !llvm::isa<llvm::FenceInst>(instruction);
}

// Whether `value` is computed in the loop from such an access.
bool depends(const llvm::Value* value, const llvm::Loop& loop, std::set<const llvm::Value*>& seen) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || !loop.contains(instruction) || !seen.insert(value).second) return false;
  if (sees_others(*instruction)) return true;
  for (const llvm::Use& operand : instruction->operands())
    if (depends(operand.get(), loop, seen)) return true;
  return false;
}

bool waits(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  std::set<const llvm::Value*> seen;
  for (const llvm::BasicBlock* block : exiting)
    for (const llvm::Use& operand : block->getTerminator()->operands())
      if (depends(operand.get(), loop, seen)) return true;
  return false;
}

bool touches_others(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (sees_others(instruction)) return true;
  return false;
}

}  // namespace

// Where nothing is optimised, values go through memory and every loop with such an access may wait.
void add_yields(llvm::Module& module, bool optimized) {
  const auto yield = module.getOrInsertFunction("trine_simt_yield", llvm::Type::getVoidTy(module.getContext()));
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (optimized ? waits(*loop) : touches_others(*loop)) {
        llvm::SmallVector<llvm::BasicBlock*> latches;
        loop->getLoopLatches(latches);
        for (llvm::BasicBlock* latch : latches) llvm::IRBuilder<>(latch->getTerminator()).CreateCall(yield);
      }
  }
}

}  // namespace trine::simt
