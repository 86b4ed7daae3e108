#include "simt/compile/lanes/joins.h"

#include <set>

#include "llvm/IR/CFG.h"

namespace trine::simt::lanes {

bool Joins::add_branch(llvm::BasicBlock* block) {
  if (!branches_seen_.insert(block).second) return false;
  const size_t before = joins_.size();
  llvm::SmallVector<llvm::BasicBlock*> starts(llvm::successors(block));
  spread(starts, loops_.getLoopFor(block), order_.of_block.lookup(block));
  return joins_.size() != before;
}

// Each start is a label, which blocks hand on to their successors; a block that two labels reach is a join and a label
// of its own. Labels that leave the loop, or go round, and are not one make the loop divergent.
void Joins::spread(llvm::ArrayRef<llvm::BasicBlock*> starts, llvm::Loop* loop, int from) {
  const int end = loop ? order_.of_end.lookup(loop) : order_.exit();
  llvm::DenseMap<const llvm::BasicBlock*, int> label;
  std::set<int> outward;
  const auto leaves = [&](const llvm::BasicBlock* to) {
    return loop && (!loop->contains(to) || loop->getHeader() == to);
  };
  for (llvm::BasicBlock* start : starts)
    if (leaves(start)) outward.insert(order_.of_block.lookup(start));
  for (int i = from + 1; i < end; ++i) {
    llvm::BasicBlock* block = order_.nodes[size_t(i)].block;
    if (!block) continue;
    std::set<int> arriving;
    if (llvm::is_contained(starts, block)) arriving.insert(i);
    for (llvm::BasicBlock* before : llvm::predecessors(block))
      if (!is_back_edge(before, block, loops_))
        if (const auto found = label.find(before); found != label.end()) arriving.insert(found->second);
    if (arriving.empty()) continue;
    if (arriving.size() > 1) joins_.insert(block);
    label[block] = arriving.size() > 1 ? i : *arriving.begin();
    for (llvm::BasicBlock* next : llvm::successors(block))
      if (leaves(next)) outward.insert(label[block]);
  }
  if (outward.size() < 2 || !loops_seen_.insert(loop).second) return;
  llvm::SmallVector<llvm::BasicBlock*> exits;
  loop->getUniqueExitBlocks(exits);
  joins_.insert(exits.begin(), exits.end());
  spread(exits, loop->getParentLoop(), end);
}

}  // namespace trine::simt::lanes
