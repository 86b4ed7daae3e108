#include "simt/compile/lanes/width.h"

#include <algorithm>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "simt/compile/lanes/prepare.h"
#include "simt/compile/lanes/shapes.h"

namespace trine::simt::lanes {
namespace {

// The most bits of one lane that values which vary hold at once, at the ends of instructions.
int most_live_bits(llvm::Function& kernel, const Shapes& shapes) {
  using Live = llvm::DenseSet<const llvm::Value*>;
  const auto counts = [&](const llvm::Value* value) {
    return llvm::isa<llvm::Instruction>(value) && shapes.of(value).is_varying() && !value->getType()->isIntegerTy(1) &&
           !value->getType()->isAggregateType();
  };
  const auto bits = [&](const llvm::Value* value) {
    return std::max(32, int(kernel.getDataLayout().getTypeSizeInBits(value->getType())));
  };
  llvm::DenseMap<const llvm::BasicBlock*, Live> live_in;
  int most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock& block : llvm::reverse(kernel)) {
      Live live;
      for (llvm::BasicBlock* next : llvm::successors(&block)) {
        for (const llvm::Value* value : live_in[next]) live.insert(value);
        for (llvm::PHINode& phi : next->phis())
          if (llvm::Value* value = phi.getIncomingValueForBlock(&block); counts(value)) live.insert(value);
      }
      int now = 0;
      for (const llvm::Value* value : live) now += bits(value);
      most = std::max(most, now);
      for (llvm::Instruction& instruction : llvm::reverse(block)) {
        if (live.erase(&instruction)) now -= bits(&instruction);
        if (!llvm::isa<llvm::PHINode>(instruction))
          for (const llvm::Value* operand : instruction.operands())
            if (counts(operand) && live.insert(operand).second) now += bits(operand);
        most = std::max(most, now);
      }
      const size_t before = live_in[&block].size();
      live_in[&block] = std::move(live);
      changed |= live_in[&block].size() != before;
    }
  }
  return most;
}

}  // namespace

int choose_width(llvm::Function& kernel, const compute::Dim3& block, const Registers& registers) {
  if (has_warp_operations(kernel)) return 32;
  const llvm::DominatorTree tree(kernel);
  const llvm::LoopInfo loops(tree);
  const Order order = order_blocks(kernel, loops);
  const int native = registers.bits / 32;
  const Group group{block, native};
  const llvm::DenseSet<const llvm::Value*> none;
  const int live = most_live_bits(kernel, Shapes(kernel, order, loops, group, none));
  // Wider groups than threads have idle lanes, and where rows are short each vector spans several.
  const auto suits = [&](int width) {
    const Group wider{block, width};
    return wider.threads() > uint32_t(width / 2) && (wider.along_x() || !Group{block, width / 2}.along_x());
  };
  int width = native;
  while (width < 32 && suits(width * 2) && int64_t{live} * width * 2 <= int64_t{registers.bits} * registers.count)
    width *= 2;
  while (width > 8 && !suits(width)) width /= 2;
  return width;
}

}  // namespace trine::simt::lanes
