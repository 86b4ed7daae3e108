// Folds of few points over many elements, split over blocks: kernels in place of one.
//
//   part    partial[s][point] = the fold over slice s
//   join    finished[point] = the fold over all partial[s][point]      each fold of a row in turn
//   finish  the rest, which finds its folds finished: points are all elements of the outputs
//
// A single fold with nothing behind it but outputs of a row is joined where it is used: two kernels.
#pragma once

#include "codegen/cuda/bound_loops.h"

namespace trine::codegen {

// Operands of this index and beyond, in and out, are places in the workspace.
constexpr int kWorkspaceOperand = 1 << 20;

struct SplitKernels {
  std::vector<LoopKernel> kernels;  // in order, with numbers for all symbols; empty: the kernel is better whole
  std::vector<int64_t> offsets;     // in the workspace, of operand kWorkspaceOperand + i
  int64_t workspace_bytes = 0;
};

// `blocks` would run the kernel as it is.
SplitKernels split_folds(const BoundLoops& loops, int64_t blocks, int multiprocessors);

}  // namespace trine::codegen
