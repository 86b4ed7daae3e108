// When blocks run. Lanes that a divergent branch parts go on one after the other: each block runs once, in the order of
// blocks, when all lanes are there that will come. Others wait at the start of a later block. Uniform branches stay
// branches, unless lanes wait in between.
//
// After: Moll and Hack, Partial control-flow linearization, PLDI 2018.
#pragma once

#include <set>
#include <vector>

#include "simt/compile/lanes/order.h"
#include "simt/compile/lanes/shapes.h"

namespace trine::simt::lanes {

using Places = std::set<int>;  // nodes

struct Visit {
  bool reached = false;
  Places waiting;         // where else lanes may be when this node starts
  bool populated = true;  // there is a lane in it for sure
  bool everyone = false;  // all lanes of the group that have not returned, and none can have: the group's own mask
  bool guarded = false;   // jumped over when no lane is in it
  const llvm::BasicBlock* same_as = nullptr;  // its mask is that of this block, which all its lanes have come through
};

class Schedule {
 public:
  Schedule(llvm::Function& function, const Order& order, const llvm::LoopInfo& loops, const Shapes& shapes);

  const Visit& at(int node) const { return visits_[size_t(node)]; }
  // Where control goes when lanes wait at `places`: the first.
  static int first(const Places& places) { return *places.begin(); }
  // The block that dominates `block` and is run by the same round of the same loops; null: none.
  const llvm::BasicBlock* dominator(const llvm::BasicBlock* block) const;

 private:
  bool round();
  void leave_block(int node);
  void arrive(int at, const Places& places, int sure);
  void name_masks(llvm::Function& function);

  const Order& order_;
  const llvm::LoopInfo& loops_;
  const Shapes& shapes_;
  std::vector<Visit> visits_;
  llvm::DenseMap<const llvm::Loop*, Places> round_again_;  // what waits at a loop's end, by the round before
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::BasicBlock*> dominators_;
};

}  // namespace trine::simt::lanes
