// What the executor tells the checker, of blocks whose Block::checks is set.
#pragma once

#include <cstdint>

namespace trine::simt {

class Executor;
struct Block;

// A barrier is complete: of all threads, or of those that wait at `id` and have arrived there.
void check_barrier(Executor& executor, Block& block, int32_t id, bool of_all);
void check_arrival(Block& block, int32_t id, uint32_t thread);
void check_collective(Block& block, uint32_t warp_of_block, uint32_t lanes);

}  // namespace trine::simt
