#include "simt/compile/lanes/schedule.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/intrinsics.h"

namespace trine::simt::lanes {
namespace {

constexpr int kWorthSkipping = 12;  // instructions that cost as much as asking whether there is any lane

// An instruction that must not run when no lane is there, or costs much. Vectors have masks; scalars have not.
int cost(const llvm::Instruction& instruction, const Shapes& shapes) {
  using namespace llvm;
  const auto divides = [](unsigned opcode) {
    return opcode == Instruction::SDiv || opcode == Instruction::UDiv || opcode == Instruction::SRem ||
           opcode == Instruction::URem;
  };
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return shapes.of(load->getPointerOperand()).is_varying() ? 4 : shapes.of(load).is_uniform() ? kWorthSkipping : 1;
  if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    const Shape pointer = shapes.of(store->getPointerOperand());
    return pointer.is_uniform() ? kWorthSkipping : pointer.is_varying() ? 4 : 1;
  }
  if (divides(instruction.getOpcode())) return kWorthSkipping;
  if (const auto* call = dyn_cast<CallInst>(&instruction)) {
    const CallKind kind = classify(*call);
    return kind == CallKind::pure                                          ? 2
           : kind <= CallKind::block_register || kind == CallKind::nothing ? 0
                                                                           : kWorthSkipping;
  }
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return kWorthSkipping;
  if (const auto* branch = dyn_cast<BranchInst>(&instruction))
    return branch->isConditional() && !shapes.divergent_branch(branch->getParent()) ? kWorthSkipping : 0;
  return shapes.of(&instruction).is_varying() ? 1 : 0;
}

bool needs_guard(const llvm::BasicBlock& block, const Shapes& shapes) {
  int sum = 0;
  for (const llvm::Instruction& instruction : block) sum += cost(instruction, shapes);
  return sum >= kWorthSkipping;
}

}  // namespace

Schedule::Schedule(llvm::Function& function, const Order& order, const llvm::LoopInfo& loops, const Shapes& shapes)
    : order_(order), loops_(loops), shapes_(shapes) {
  while (round()) {
  }
  name_masks(function);
}

// One walk over the nodes; true if what waits at the ends of loops has grown by it, so that another is needed.
bool Schedule::round() {
  visits_.assign(order_.nodes.size(), {});
  arrive(0, {0}, 0);
  bool grown = false;
  for (int i = 0; i < order_.exit(); ++i) {
    const Node& node = order_.nodes[size_t(i)];
    Visit& visit = visits_[size_t(i)];
    if (!visit.reached) continue;
    if (node.end_of) {
      Places& known = round_again_[node.end_of];
      for (int place : visit.waiting) grown |= known.insert(place).second;
      if (!visit.waiting.empty()) arrive(first(visit.waiting), visit.waiting, -1);
      continue;
    }
    if (llvm::Loop* loop = loops_.getLoopFor(node.block); loop && loop->getHeader() == node.block) {
      const Places& again = round_again_[loop];
      visit.waiting.insert(again.begin(), again.end());
    }
    visit.everyone = visit.waiting.empty();
    visit.populated |= visit.everyone;
    visit.guarded = !visit.populated && needs_guard(*node.block, shapes_);
    if (visit.guarded) arrive(first(visit.waiting), visit.waiting, -1);
    leave_block(i);
  }
  return grown;
}

void Schedule::leave_block(int node) {
  const Visit& visit = visits_[size_t(node)];
  const llvm::BasicBlock* block = order_.nodes[size_t(node)].block;
  const bool here = visit.populated || visit.guarded;
  const auto target = [&](const llvm::BasicBlock* next) { return order_.target(block, next, loops_); };
  if (llvm::succ_empty(block)) {
    Places places = visit.waiting;
    places.insert(order_.exit());
    arrive(first(places), places, -1);
  } else if (shapes_.divergent_branch(block)) {
    Places places = visit.waiting;
    for (const llvm::BasicBlock* next : llvm::successors(block)) places.insert(target(next));
    arrive(first(places), places, places.size() == 1 && here ? first(places) : -1);
  } else {
    for (const llvm::BasicBlock* next : llvm::successors(block)) {
      Places places = visit.waiting;
      places.insert(target(next));
      arrive(first(places), places, here ? target(next) : -1);
    }
  }
}

// Control comes to node `at` while lanes may be at `places`; for sure at `sure`.
void Schedule::arrive(int at, const Places& places, int sure) {
  Visit& visit = visits_[size_t(at)];
  visit.populated = (visit.populated || !visit.reached) && at == sure;
  visit.reached = true;
  for (int place : places)
    if (place != at) visit.waiting.insert(place);
}

namespace {

// Whether lanes in `from` may go round the loop again without coming to `to`, which is in it too.
bool goes_round(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::Loop& loop) {
  llvm::SmallVector<const llvm::BasicBlock*> todo = {from};
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  while (!todo.empty()) {
    const llvm::BasicBlock* block = todo.pop_back_val();
    if (block == to || !loop.contains(block) || !seen.insert(block).second) continue;
    for (const llvm::BasicBlock* next : llvm::successors(block)) {
      if (next == loop.getHeader()) return true;
      todo.push_back(next);
    }
  }
  return false;
}

}  // namespace

// All lanes of a block come to its post-dominator, if no other do and both are run once for a round of the same loop.
void Schedule::name_masks(llvm::Function& function) {
  const llvm::DominatorTree tree(function);
  const llvm::PostDominatorTree after(function);
  for (llvm::BasicBlock& block : function) {
    const auto* node = tree.getNode(&block)->getIDom();
    const llvm::Loop* loop = loops_.getLoopFor(&block);
    while (node && loops_.getLoopFor(node->getBlock()) != loop) {
      const llvm::Loop* inner = loops_.getLoopFor(node->getBlock());
      if (!inner || (loop && !loop->contains(inner))) break;
      while (inner->getParentLoop() != loop) inner = inner->getParentLoop();
      node = tree.getNode(inner->getHeader())->getIDom();
    }
    if (!node || loops_.getLoopFor(node->getBlock()) != loop) continue;
    if (loop && loop->getHeader() == &block) continue;
    dominators_[&block] = node->getBlock();
    Visit& visit = visits_[size_t(order_.of_block.lookup(&block))];
    if (!visit.everyone && after.dominates(&block, node->getBlock()) &&
        !(loop && goes_round(node->getBlock(), &block, *loop)))
      visit.same_as = node->getBlock();
  }
}

const llvm::BasicBlock* Schedule::dominator(const llvm::BasicBlock* block) const { return dominators_.lookup(block); }

}  // namespace trine::simt::lanes
