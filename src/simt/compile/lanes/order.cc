#include "simt/compile/lanes/order.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/intrinsics.h"

namespace trine::simt::lanes {
namespace {

struct OpenLoop {
  llvm::Loop* loop;
  size_t left;  // blocks that have no place yet
};

class Builder {
 public:
  Builder(llvm::Function& function, const llvm::LoopInfo& loops) : function_(function), loops_(loops) {}

  Order build() {
    find_barriers();
    for (llvm::BasicBlock& block : function_)
      for (llvm::BasicBlock* next : llvm::successors(&block))
        if (!is_back_edge(&block, next, loops_)) ++waits_for_[next];
    ready_.push_back(&function_.getEntryBlock());
    while (!ready_.empty()) place(take());
    if (order_.of_block.size() != function_.size()) refuse("irreducible control flow");
    order_.nodes.push_back({});
    return std::move(order_);
  }

 private:
  // Blocks of the open loop. Among them those that lead to no barrier any more: when the others come to it, lanes on
  // their way out are gone. Then the block that became ready last, so that what one branch decides stays together.
  llvm::BasicBlock* take() {
    for (const bool before_barrier : {false, true})
      for (size_t i = ready_.size(); i-- > 0;) {
        llvm::BasicBlock* block = ready_[i];
        if (!open_.empty() && !open_.back().loop->contains(block)) continue;
        if (order_.before_barrier.contains(block) != before_barrier) continue;
        ready_.erase(ready_.begin() + ptrdiff_t(i));
        return block;
      }
    refuse("irreducible control flow");
  }

  void find_barriers() {
    llvm::SmallVector<llvm::BasicBlock*> todo;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && classify(*call) == CallKind::barrier)
          todo.push_back(&block);
    while (!todo.empty()) {
      llvm::BasicBlock* block = todo.pop_back_val();
      if (order_.before_barrier.insert(block).second) todo.append(llvm::pred_begin(block), llvm::pred_end(block));
    }
  }

  void place(llvm::BasicBlock* block) {
    llvm::Loop* loop = loops_.getLoopFor(block);
    if (loop && loop->getHeader() == block) open_.push_back({loop, loop->getNumBlocks()});
    order_.of_block[block] = int(order_.nodes.size());
    order_.nodes.push_back({block, nullptr});
    for (OpenLoop& open : open_) --open.left;
    while (!open_.empty() && open_.back().left == 0) {
      order_.of_end[open_.back().loop] = int(order_.nodes.size());
      order_.nodes.push_back({nullptr, open_.back().loop});
      open_.pop_back();
    }
    llvm::SmallVector<llvm::BasicBlock*> next(llvm::successors(block));
    for (size_t i = next.size(); i-- > 0;)
      if (!is_back_edge(block, next[i], loops_) && --waits_for_[next[i]] == 0) ready_.push_back(next[i]);
  }

  llvm::Function& function_;
  const llvm::LoopInfo& loops_;
  Order order_;
  llvm::DenseMap<const llvm::BasicBlock*, int> waits_for_;
  std::vector<llvm::BasicBlock*> ready_;
  std::vector<OpenLoop> open_;
};

}  // namespace

bool is_back_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::LoopInfo& loops) {
  const llvm::Loop* loop = loops.getLoopFor(to);
  return loop && loop->getHeader() == to && loop->contains(from);
}

int Order::target(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::LoopInfo& loops) const {
  return is_back_edge(from, to, loops) ? of_end.lookup(loops.getLoopFor(to)) : of_block.lookup(to);
}

Order order_blocks(llvm::Function& function, const llvm::LoopInfo& loops) { return Builder(function, loops).build(); }

}  // namespace trine::simt::lanes
