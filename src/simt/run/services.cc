// What kernels call that is neither a barrier nor of the warp: who they are, ends, memory, time.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "simt/check/block_checks.h"
#include "simt/run/executor.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace trine::simt {

namespace {

void free_checked(Executor& executor, void* memory) {
  MemoryMap& map = MemoryMap::of_process();
  if (map.release(reinterpret_cast<uint64_t>(memory), "free"))
    return executor.block_of(executor.current()).checks->forget_regions();
  executor.fail(fmt::format("trine check: memory: free of {}{}, which malloc has not given or is freed already",
                            map.describe(reinterpret_cast<uint64_t>(memory), 1), executor.place()));
}

}  // namespace

extern "C" {

const ThreadState* trine_simt_thread() { return &Executor::running()->current().state; }

void trine_simt_grid_sync() { Executor::running()->wait_for_grid(); }
void trine_simt_yield() { Executor::running()->yield(); }

// Blocks before are mostly done, or nearly so.
void trine_simt_wait() {
  static thread_local uint32_t rounds = 0;
  constexpr uint32_t kBeforeOthersRun = 16;
  if (++rounds % kBeforeOthersRun == 0) return Executor::running()->wait_for_block();
#if defined(__x86_64__)
  _mm_pause();
#endif
}

void trine_simt_exit() { Executor::running()->exit_thread(); }
void trine_simt_set_lane(uint32_t linear) { Executor::running()->set_lane(linear); }

int32_t trine_simt_is_local(const void* address) { return Executor::running()->stack_holds(address); }

void trine_simt_assert_fail(const char* message, const char* file, uint32_t line, const char* function) {
  Executor::running()->fail(fmt::format("assertion '{}' failed at {}:{} in {}", message, file, line, function));
}

void trine_simt_trap() {
  Executor& executor = *Executor::running();
  executor.fail("trap" + executor.place_before());
}

uint64_t trine_simt_clock() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return trine_simt_nanoseconds();
#endif
}

uint64_t trine_simt_nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void* trine_simt_malloc(uint64_t bytes) {
  Executor& executor = *Executor::running();
  ++executor.inside_runtime;
  void* memory = std::malloc(bytes);
  if (memory && executor.has_threads() && executor.block_of(executor.current()).checks)
    MemoryMap::of_process().add(reinterpret_cast<uint64_t>(memory), bytes, RegionKind::heap,
                                fmt::format("memory of malloc{}", executor.place()), true);
  --executor.inside_runtime;
  return memory;
}

void trine_simt_free(void* memory) {
  Executor& executor = *Executor::running();
  ++executor.inside_runtime;
  if (!executor.has_threads() || !executor.block_of(executor.current()).checks) std::free(memory);
  else if (memory) free_checked(executor, memory);
  --executor.inside_runtime;
}

}  // extern "C"

}  // namespace trine::simt
