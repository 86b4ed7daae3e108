// Where lanes meet again that a divergent branch has sent different ways: phis of these blocks differ between lanes.
// Blocks that a divergent loop leaves to are such too: lanes arrive there after different numbers of rounds.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "simt/compile/lanes/order.h"

namespace trine::simt::lanes {

class Joins {
 public:
  Joins(const Order& order, const llvm::LoopInfo& loops) : order_(order), loops_(loops) {}

  // The branch that ends `block` may send lanes different ways. True if that makes new joins.
  bool add_branch(llvm::BasicBlock* block);
  bool is_join(const llvm::BasicBlock* block) const { return joins_.contains(block); }

 private:
  // Lanes go to `starts` from node `from`, in `loop` (null: the function).
  void spread(llvm::ArrayRef<llvm::BasicBlock*> starts, llvm::Loop* loop, int from);

  const Order& order_;
  const llvm::LoopInfo& loops_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_, branches_seen_;
  llvm::DenseSet<const llvm::Loop*> loops_seen_;
};

}  // namespace trine::simt::lanes
