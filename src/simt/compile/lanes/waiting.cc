// A loop waits for other blocks for sure if one thread of a block runs it (`if (threadIdx.x == 31)`), and whatever its
// block may write where it looks is written by that thread, or behind a barrier that this thread has yet to reach.
#include "simt/compile/lanes/waiting.h"

#include <optional>

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/intrinsics.h"

namespace trine::simt::lanes {
namespace {

constexpr const char* kWait = "trine_simt_wait";

// Whether the value is what another thread may have put there, so that a loop that asks for it may wait for that
// thread. An update by compare-and-swap expects what it read the round before, and succeeds by itself.
bool told_by_others(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isVolatile() || load->isAtomic();
  if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(swap->getCompareOperand());
  return llvm::isa<llvm::AtomicRMWInst>(instruction);
}

// What the loop asks for that others may have written, to end or to go on.
std::vector<const llvm::Instruction*> asked_for(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  llvm::SmallVector<const llvm::Value*> todo;
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  std::vector<const llvm::Instruction*> found;
  for (llvm::BasicBlock* block : exiting)
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()))
      todo.push_back(branch->getCondition());
  while (!todo.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(todo.pop_back_val());
    if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (told_by_others(*instruction, loop)) found.push_back(instruction);
    todo.append(instruction->value_op_begin(), instruction->value_op_end());
    // What is chosen by a branch depends on its condition.
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction); phi && phi->getParent() != loop.getHeader())
      for (const llvm::BasicBlock* from : phi->blocks())
        for (const llvm::BasicBlock* at : {from, from->getSinglePredecessor()})
          if (const auto* branch = at ? llvm::dyn_cast<llvm::BranchInst>(at->getTerminator()) : nullptr;
              branch && branch->isConditional())
            todo.push_back(branch->getCondition());
  }
  return found;
}

class Waiting {
 public:
  Waiting(llvm::Function& kernel, const compute::Dim3& block)
      : kernel_(kernel),
        one_row_(block.y == 1 && block.z == 1),
        one_thread_(block.volume() == 1),
        tree_(kernel),
        loops_(tree_) {}

  void run() {
    llvm::SmallVector<llvm::Loop*> waiting;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      const auto asked = asked_for(*loop);
      if (asked.empty()) continue;
      if (!for_other_blocks(*loop, asked)) refuse("a loop that may wait for other threads");
      waiting.push_back(loop);
    }
    for (llvm::Loop* loop : waiting)
      if (llvm::none_of(waiting, [&](llvm::Loop* other) { return other != loop && loop->contains(other); }))
        mark(*loop);
  }

 private:
  static const llvm::Value* pointer_of(const llvm::Instruction& instruction) {
    if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) return swap->getPointerOperand();
    if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return update->getPointerOperand();
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->getPointerOperand();
    return llvm::getLoadStorePointerOperand(&instruction);
  }

  bool all_of_objects(const llvm::Value* pointer, llvm::function_ref<bool(const llvm::Value*)> holds) const {
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, &loops_, 0);
    return llvm::all_of(objects, holds);
  }

  // Memory that the host has given, or a variable of the program: never shared or a thread's own.
  bool is_global(const llvm::Value* pointer) const {
    return all_of_objects(pointer, [](const llvm::Value* object) {
      const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
      return variable ? variable->getAddressSpace() != 3 : llvm::isa<llvm::Argument>(object);
    });
  }
  bool is_of_the_block(const llvm::Value* pointer) const {
    return all_of_objects(pointer, [](const llvm::Value* object) {
      const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
      return llvm::isa<llvm::AllocaInst>(object) || (variable && variable->getAddressSpace() == 3);
    });
  }

  // The one thread of a block that comes here.
  std::optional<uint64_t> only_thread(const llvm::BasicBlock* here) const {
    if (one_thread_) return 0;
    if (!one_row_) return std::nullopt;
    for (const auto* node = tree_.getNode(here)->getIDom(); node; node = node->getIDom()) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      for (const unsigned side : {0u, 1u}) {
        if (!tree_.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(side)), here)) continue;
        if (const auto thread = named_by(branch->getCondition(), side == 0)) return thread;
      }
    }
    return std::nullopt;
  }

  static std::optional<uint64_t> named_by(const llvm::Value* condition, bool holds) {
    using namespace llvm::PatternMatch;
    const llvm::Value *a = nullptr, *b = nullptr;
    const bool both = holds ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                            : match(condition, m_LogicalOr(m_Value(a), m_Value(b)));
    if (both) {
      const auto first = named_by(a, holds);
      return first ? first : named_by(b, holds);
    }
    const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    if (!compare || compare->getPredicate() != (holds ? llvm::ICmpInst::ICMP_EQ : llvm::ICmpInst::ICMP_NE))
      return std::nullopt;
    const auto* index = llvm::dyn_cast<llvm::CallInst>(compare->getOperand(0));
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
    if (!index || !number || classify(*index) != CallKind::thread_index ||
        thread_axis(index->getCalledFunction()->getIntrinsicID()) != 0)
      return std::nullopt;
    return number->getZExtValue();
  }

  // Control comes here through a barrier that is behind the loop.
  bool is_behind_barrier_after(const llvm::Loop& loop, const llvm::BasicBlock* here) const {
    for (const auto* node = tree_.getNode(here); node; node = node->getIDom())
      for (const llvm::Instruction& instruction : *node->getBlock()) {
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (!call || classify(*call) != CallKind::barrier) continue;
        // In one block with what is asked about, a barrier counts only if it comes first.
        if (node->getBlock() == here && &instruction != &*here->getFirstNonPHIOrDbg()) continue;
        if (!llvm::isPotentiallyReachable(node->getBlock(), loop.getHeader(), nullptr, &tree_, &loops_)) return true;
      }
    return false;
  }

  bool for_other_blocks(const llvm::Loop& loop, const std::vector<const llvm::Instruction*>& asked) const {
    const auto waiter = only_thread(loop.getHeader());
    if (!waiter) return false;
    for (const llvm::Instruction* one : asked)
      if (!is_global(pointer_of(*one))) return false;
    for (const llvm::BasicBlock& block : kernel_)
      for (const llvm::Instruction& instruction : block) {
        if (!instruction.mayWriteToMemory()) continue;
        if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
          const bool copies = llvm::isa<llvm::MemIntrinsic>(call) || classify(*call) == CallKind::unknown;
          if (!copies) continue;  // barriers, fences, printf and its like
          return false;
        }
        const llvm::Value* to = pointer_of(instruction);
        const bool harmless =
            (to && is_of_the_block(to)) || only_thread(&block) == waiter || is_behind_barrier_after(loop, &block);
        if (!harmless && !llvm::isa<llvm::FenceInst>(instruction)) return false;
      }
    return true;
  }

  void mark(llvm::Loop& loop) {
    llvm::SmallVector<llvm::BasicBlock*> latches;
    loop.getLoopLatches(latches);
    const llvm::FunctionCallee wait =
        kernel_.getParent()->getOrInsertFunction(kWait, llvm::Type::getVoidTy(kernel_.getContext()));
    for (llvm::BasicBlock* latch : latches) llvm::IRBuilder<>(latch->getTerminator()).CreateCall(wait);
  }

  llvm::Function& kernel_;
  const bool one_row_, one_thread_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
};

}  // namespace

void admit_waiting(llvm::Function& kernel, const compute::Dim3& block) { Waiting(kernel, block).run(); }

bool waits_for_blocks(const llvm::Function& kernel) {
  const llvm::Function* wait = kernel.getParent()->getFunction(kWait);
  return wait && !wait->use_empty();
}

}  // namespace trine::simt::lanes
