// A kernel with its numbers, as the renderer looks at it: loops that run once are gone, and so are strides along them.
#pragma once

#include "codegen/bound.h"

namespace trine::codegen {

class BoundLoops {
 public:
  BoundLoops(const LoopKernel& kernel, const Bindings& bindings);

  const LoopKernel& kernel() const { return *kernel_; }
  const Inst& inst(int id) const { return kernel_->insts[static_cast<size_t>(id)]; }
  const Access& access(int id) const { return kernel_->accesses[static_cast<size_t>(id)]; }
  const Operand& operand_of(int access_id) const {
    return kernel_->operands[static_cast<size_t>(access(access_id).operand)];
  }
  int loop_count() const { return static_cast<int>(numbers_.extents.size()); }
  int64_t extent(int loop) const { return numbers_.extents[static_cast<size_t>(loop)]; }
  int64_t offset(int access) const { return numbers_.offset(access); }
  // 0 along a loop that runs at most once.
  int64_t stride(int access, int loop) const { return extent(loop) > 1 ? numbers_.stride(access, loop) : 0; }
  bool depends(int id, int loop) const { return (inst(id).deps & loop_bit(loop)) != 0; }

  // The nest's outer loops whose iterations may run in any order: one point each. Those inside of no fold that a point
  // shares are taken in too.
  const std::vector<int>& parallel() const { return parallel_; }  // that run more than once, outermost first
  int64_t points() const { return points_; }
  // Blocks from the root to the one that a point runs; loops between them.
  const std::vector<const Block*>& path() const { return path_; }
  const std::vector<int>& path_loops() const { return path_loops_; }  // one less; with those that run once
  const Block& row() const { return *path_.back(); }
  bool has_row_folds() const;  // folds that a point computes

  bool fits_32_bits() const;  // every address, index and count

 private:
  void find_path();

  const LoopKernel* kernel_;
  Numbers numbers_;
  std::vector<int> parallel_;
  std::vector<const Block*> path_;
  std::vector<int> path_loops_;
  int64_t points_ = 1;
};

bool has_folds(const Block& block);       // directly in it
const Step* loop_of(const Block& block);  // the loop in it, null when there is none

}  // namespace trine::codegen
