// How a kernel's iterations are laid out over threads.
#pragma once

#include "codegen/cuda/bound_loops.h"
#include "codegen/cuda/render.h"

namespace trine::codegen {

struct ThreadSchedule {
  // `team` threads share one point: they split the loops of its folds and of its inner outputs. Of a row, neighbours
  // are one team; of columns, neighbours are points and a team lies in threadIdx.y.
  int team = 1;
  bool columns = false;
  int block_x = 256, block_y = 1;
  int width = 1;           // elements of a packed loop that a thread takes at once
  LoopSet packed = 0;      // at most one on a path
  bool whole = true;       // width divides the packed loops' extents
  int keep = 0;            // packs of a row that a thread keeps in registers; 0: rows are read again
  std::vector<int> order;  // parallel loops, fastest first
  // Squares of edge * edge points, read along one loop into shared memory and written along the other.
  int edge = 0;  // 0: none
  int read_along = -1, write_along = -1;
  bool wide_index = false;  // 64 bits
  bool overlap = false;     // the kernel waits for the one before it
  int points_per_block() const { return edge ? 1 : columns ? block_x : block_x / team; }  // of those counted below
  // What a thread's point counts of a loop: iterations, packs, or edges of squares.
  int64_t units(const BoundLoops& loops, int loop) const {
    const int64_t by = is_packed(loop) ? width : edge && (loop == read_along || loop == write_along) ? edge : 1;
    return (loops.extent(loop) + by - 1) / by;
  }
  bool is_packed(int loop) const { return (packed & loop_bit(loop)) != 0; }
};

// Whether a load is read along schedule.read_along and wanted along write_along.
bool crosses(const BoundLoops& loops, const ThreadSchedule& schedule, const Inst& inst);

ThreadSchedule schedule_threads(const BoundLoops& loops, const RenderTarget& target);

// Loops in one another with nothing but computation between them, from a loop step of a row on. A team takes their
// iterations as one run.
struct Chain {
  std::vector<int> loops;            // that do not run once, outermost first
  std::vector<const Block*> blocks;  // of each loop step
  int fastest() const { return loops.empty() ? -1 : loops.back(); }
};
Chain chain_of(const BoundLoops& loops, const Step& loop);
// Chains of the folds and of the inner loop in a row's block, in order.
std::vector<Chain> row_chains(const BoundLoops& loops);

// Loads, and values that have a row buffer, which several chains over the same loops need: the first and the last.
struct SharedValue {
  int inst;
  size_t first, last;
};
std::vector<SharedValue> shared_values(const BoundLoops& loops, const std::vector<Chain>& chains);

}  // namespace trine::codegen
