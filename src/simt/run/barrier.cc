#include "simt/run/barrier.h"

#include <fmt/format.h>

#include "simt/check/hooks.h"

namespace trine::simt {
namespace {

bool is_complete(const Block& block, const Barrier& barrier) {
  const uint32_t here = barrier.arrived + barrier.waiting;
  return here > 0 && (barrier.expected ? here + barrier.absent >= barrier.expected : here >= block.live);
}

int32_t answer(int32_t kind, uint32_t count, uint32_t count_true) {
  switch (static_cast<BarrierKind>(kind)) {
    case BarrierKind::plain: return 0;
    case BarrierKind::count_true: return static_cast<int32_t>(count_true);
    case BarrierKind::all_true: return count_true == count;
    case BarrierKind::any_true: return count_true > 0;
  }
  return 0;
}

// Wakes who waits at `id`; `last` is not asleep and only gets its answer.
void complete(Executor& executor, Block& block, int32_t id, Thread* last) {
  Thread* threads = executor.threads_of(block);
  const auto is_at = [&](const Thread& t) { return &t == last || (t.wait == Wait::barrier && t.barrier == id); };
  const uint32_t begun = executor.begun_of(block);
  uint32_t count = 0, count_true = 0;
  for (uint32_t i = 0; i < begun; ++i)
    if (is_at(threads[i])) {
      ++count;
      count_true += threads[i].predicate != 0;
    }
  Barrier& barrier = block.barriers[static_cast<size_t>(id)];
  const int32_t result = answer(barrier.kind, count, count_true);
  if (block.checks) check_barrier(executor, block, id, count == block.live);
  barrier = {};
  --block.open_barriers;
  for (uint32_t i = 0; i < begun; ++i)
    if (is_at(threads[i])) {
      threads[i].result = result;
      if (&threads[i] != last) executor.wake(threads[i]);
    }
}

// The barrier, which this arrival opens or fits.
Barrier& barrier_at(Executor& executor, int32_t kind, int32_t id, int32_t threads, bool waits) {
  if (id < 0 || id >= kBarriers)
    executor.fail(fmt::format("barrier {}{}; barriers are 0 to {}", id, executor.place(), kBarriers - 1));
  Block& block = executor.block_of(executor.current());
  if (threads < 0 || threads % 32 != 0 || (!waits && threads == 0))
    executor.fail(
        fmt::format("barrier {} for {} threads{}; accepted are multiples of 32", id, threads, executor.place()));
  Barrier& barrier = block.barriers[static_cast<size_t>(id)];
  const auto expected = static_cast<uint32_t>(threads);
  const bool is_new = barrier.arrived + barrier.waiting == 0;
  if (is_new) {
    barrier.expected = expected;
    ++block.open_barriers;
  }
  if (barrier.expected != expected)
    executor.fail(fmt::format("barrier {} for {} threads{}; others wait there for {} threads", id, threads,
                              executor.place(), barrier.expected));
  if (waits && barrier.waiting == 0) barrier.kind = kind;
  if (waits && barrier.kind != kind)
    executor.fail(fmt::format("barrier {}{} asks for another result than those who wait there", id, executor.place()));
  constexpr uint32_t kWarp = 32;
  if (executor.current().state.linear / kWarp == block.threads / kWarp) barrier.absent = kWarp - block.threads % kWarp;
  return barrier;
}

}  // namespace

void barriers_after_exit(Executor& executor, Block& block) {
  for (int32_t id = 0; id < kBarriers && block.open_barriers > 0; ++id) {
    const Barrier& barrier = block.barriers[static_cast<size_t>(id)];
    if (barrier.expected == 0 && is_complete(block, barrier)) complete(executor, block, id, nullptr);
  }
}

extern "C" int32_t trine_simt_barrier(int32_t kind, int32_t id, int32_t threads, int32_t predicate) {
  Executor& executor = *Executor::running();
  Thread& self = executor.current();
  Barrier& barrier = barrier_at(executor, kind, id, threads, true);
  Block& block = executor.block_of(self);
  self.barrier = id;
  self.predicate = predicate;
  ++barrier.waiting;
  if (is_complete(block, barrier)) complete(executor, block, id, &self);
  else executor.wait(Wait::barrier);
  return self.result;
}

extern "C" void trine_simt_barrier_arrive(int32_t id, int32_t threads) {
  Executor& executor = *Executor::running();
  Barrier& barrier = barrier_at(executor, 0, id, threads, false);
  Block& block = executor.block_of(executor.current());
  ++barrier.arrived;
  if (block.checks) check_arrival(block, id, executor.current().state.linear);
  if (is_complete(block, barrier)) complete(executor, block, id, nullptr);
}

}  // namespace trine::simt
