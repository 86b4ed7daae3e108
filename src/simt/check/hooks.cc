#include "simt/check/hooks.h"

#include "simt/check/block_checks.h"
#include "simt/run/executor.h"

namespace trine::simt {

void check_barrier(Executor& executor, Block& block, int32_t id, bool of_all) {
  if (of_all) return block.checks->order.barrier_of_all();
  uint64_t warps = 0;
  const Thread* threads = executor.threads_of(block);
  for (uint32_t i = 0; i < executor.begun_of(block); ++i)
    if (threads[i].wait == Wait::barrier && threads[i].barrier == id) warps |= uint64_t{1} << i / 32;
  warps |= uint64_t{1} << executor.current().state.linear / 32;
  block.checks->order.barrier_of_warps(id, warps);
}

void check_arrival(Block& block, int32_t id, uint32_t thread) { block.checks->order.arrive(id, thread / 32); }

void check_collective(Block& block, uint32_t warp_of_block, uint32_t lanes) {
  block.checks->order.collective(warp_of_block, lanes);
}

}  // namespace trine::simt
