// Whether neighbours along a loop can be taken together.
#pragma once

#include <set>

#include "codegen/cuda/bound_loops.h"

namespace trine::codegen {

struct MemoryAccess {
  int access;
  bool scattered;  // masked, or at a place that data tell
};
// Loads and stores of memory that the steps make.
std::vector<MemoryAccess> memory_accesses(const BoundLoops& loops, const Block& block);

// How many of them lie side by side along `loop`.
int unit_strides(const BoundLoops& loops, const std::vector<MemoryAccess>& accesses, int loop);

// The most elements along `loop` that a thread takes together, `bytes` of the smallest: a power of two up to 16, 1 when
// it is not worth it.
int pack_width(const BoundLoops& loops, const std::vector<MemoryAccess>& accesses, int loop, int bytes);

// How often a loop step over `loop` stands in the block.
int occurrences(const Block& block, int loop);

}  // namespace trine::codegen
