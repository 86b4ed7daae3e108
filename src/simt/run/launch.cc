#include "simt/run/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/run/executor.h"
#include "trine/base/cpu.h"
#include "trine/base/thread_pool.h"

namespace trine::simt {
namespace {

ThreadPool& pool() {
  static ThreadPool shared;
  return shared;
}

void check(const CpuLaunch& launch) {
  const uint64_t shared = uint64_t{launch.code.shared_bytes} + launch.shape.shared_bytes;
  if (shared > kMostSharedBytes)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("launch: {} + {} bytes of shared memory for {}; a block has {}", launch.code.shared_bytes,
                            launch.shape.shared_bytes, launch.name, kMostSharedBytes));
  const uint64_t blocks = launch.shape.grid.volume();
  const uint64_t threads = launch.shape.block.volume();
  if (launch.shape.cooperative && (blocks > kMostCooperativeThreads / threads))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("launch: {} blocks of {} threads for {}, cooperative; a CPU has room for {} threads at once",
                    blocks, threads, launch.name, kMostCooperativeThreads));
}

void run_block(CpuLaunch& launch, uint64_t block) {
  try {
    Executor& executor = Executor::of_this_thread();
    if (launch.code.run_block) executor.run_lanes(launch, block);
    else executor.run_threads(launch, block, 1);
  } catch (const Error& error) {
    launch.fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    launch.fail(ErrorCode::out_of_memory, fmt::format("launch: no memory to run {}", launch.name));
  }
}

// In ascending order: a block that waits for an earlier one finds it done or running elsewhere.
void run_blocks(CpuLaunch& launch, uint64_t blocks) {
  for (;;) {
    if (launch.failed.load(std::memory_order_relaxed)) return;
    const uint64_t block = launch.next.fetch_add(1, std::memory_order_relaxed);
    if (block >= blocks) return;
    run_block(launch, block);
  }
}

}  // namespace

void CpuLaunch::fail(ErrorCode code, const std::string& message) {
  const std::lock_guard lock(mutex);
  if (!failed.exchange(true)) {
    error = message;
    error_code = code;
  }
}

void run_launch(CpuLaunch& launch) {
  check(launch);
  const uint64_t blocks = launch.shape.grid.volume();
  if (launch.shape.cooperative) {
    Executor::of_this_thread().run_threads(launch, 0, blocks);
  } else if (blocks == 1) {
    run_block(launch, 0);
  } else {
    const auto workers = static_cast<int>(std::min<uint64_t>(blocks, static_cast<uint64_t>(pool().threads())));
    pool().run(workers, [&](int, int) { run_blocks(launch, blocks); });
  }
  if (launch.failed.load(std::memory_order_acquire)) throw Error(launch.error_code, launch.error);
}

}  // namespace trine::simt
