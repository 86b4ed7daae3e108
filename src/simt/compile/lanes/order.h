// An order of a function's blocks: predecessors first (but for back edges), the blocks of a loop together, and after
// them a node that stands for the loop's end. Needs reducible control flow.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/BasicBlock.h"

namespace trine::simt::lanes {

struct Node {
  llvm::BasicBlock* block = nullptr;
  llvm::Loop* end_of = nullptr;  // where the lanes meet that go round again
};  // neither: the last node, where lanes are that have returned

struct Order {
  std::vector<Node> nodes;
  llvm::DenseMap<const llvm::BasicBlock*, int> of_block;
  llvm::DenseMap<const llvm::Loop*, int> of_end;
  llvm::DenseSet<const llvm::BasicBlock*> before_barrier;  // blocks that lead to one, or are one

  int exit() const { return int(nodes.size()) - 1; }
  // The node that lanes reach by the edge from -> to.
  int target(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::LoopInfo& loops) const;
};

Order order_blocks(llvm::Function& function, const llvm::LoopInfo& loops);

bool is_back_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::LoopInfo& loops);

}  // namespace trine::simt::lanes
