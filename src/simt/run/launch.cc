#include "simt/run/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "simt/check/launch_checks.h"
#include "simt/run/executor.h"
#include "trine/base/cpu.h"
#include "trine/base/thread_pool.h"

namespace trine::simt {
namespace {

using Clock = std::chrono::steady_clock;

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
  if (launch.shape.cluster.volume() > 1)
    throw Error(
        ErrorCode::unsupported,
        fmt::format("launch: clusters of {} blocks for {}; a CPU has none: open a GPU of compute capability 9.0",
                    launch.shape.cluster.volume(), launch.name));
  const uint64_t blocks = launch.shape.grid.volume();
  const uint64_t threads = launch.shape.block.volume();
  if (launch.shape.cooperative && (blocks > kMostCooperativeThreads / threads))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("launch: {} blocks of {} threads for {}, cooperative; a CPU has room for {} threads at once",
                    blocks, threads, launch.name, kMostCooperativeThreads));
}

bool is_of_barriers(const std::string& text) {
  for (const char* word : {"threads wait", "barrier", "mask", "grid sync"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

void run_blocks(CpuLaunch& launch, uint64_t first, uint64_t count) {
  try {
    Executor& executor = Executor::of_this_thread();
    if (launch.code.run_block) return executor.run_lanes(launch, first, count);
    for (uint64_t block = first; block < first + count && !launch.failed.load(std::memory_order_relaxed); ++block)
      executor.run_threads(launch, block, 1);
  } catch (const Error& error) {
    launch.fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    launch.fail(ErrorCode::out_of_memory, fmt::format("launch: no memory to run {}", launch.name));
  }
}

// How many blocks a worker takes at once: so many that asking for them costs little and neighbours' memory is read in
// one stream, so few that workers end together. One where blocks may wait for those before them, as in mode threads.
class Stretch {
 public:
  Stretch(const CpuLaunch& launch, uint64_t workers)
      : may_grow_(launch.code.run_block && !launch.code.waits), shares_(4 * workers) {}

  uint64_t next(uint64_t left) {
    const auto now = std::chrono::steady_clock::now();
    if (may_grow_ && now - began_ < kWorthAsking && count_ < left) count_ *= 2;
    began_ = now;
    return std::clamp<uint64_t>(left / shares_, 1, count_);
  }

 private:
  static constexpr std::chrono::microseconds kWorthAsking{20};
  const bool may_grow_;
  const uint64_t shares_;
  uint64_t count_ = 1;
  Clock::time_point began_ = Clock::now() - kWorthAsking;
};

// What one thread runs of a launch, for a profiler that hears of the launch.
class RunHere {
 public:
  explicit RunHere(const CpuLaunch& launch) : activity_(compute::What::blocks, "cpu", 0, nullptr, launch.trace->name) {
    if (activity_.event()) activity_.event()->flow = launch.trace->flow;
  }

  void add(uint64_t first, uint64_t count) {
    compute::TraceEvent* event = activity_.event();
    if (!event) [[likely]]
      return;
    event->count += count;
    compute::BlockRange* last = event->ranges ? &event->range[event->ranges - 1] : nullptr;
    if (last && uint64_t{last->first} + last->count == first) last->count += static_cast<uint32_t>(count);
    else if (event->ranges < compute::kBlockRanges)
      event->range[event->ranges++] = {static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
  }

 private:
  compute::Activity activity_;
};

uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
}

void keep_pace(const CpuLaunch& launch, uint64_t nanoseconds, uint64_t blocks) {
  if (launch.block_ns)
    launch.block_ns->store(static_cast<uint32_t>(std::clamp<uint64_t>(nanoseconds / blocks, 1, 1u << 31)),
                           std::memory_order_relaxed);
}

// In ascending order: a block that waits for an earlier one finds it done or running elsewhere.
void take_blocks(CpuLaunch& launch, uint64_t blocks, uint64_t workers) {
  Stretch stretch(launch, workers);
  std::optional<RunHere> here;
  const auto begin = Clock::now();
  uint64_t seen = launch.next.load(std::memory_order_relaxed), taken = 0;
  while (seen < blocks && !launch.failed.load(std::memory_order_relaxed)) {
    const uint64_t count = stretch.next(blocks - seen);
    const uint64_t first = launch.next.fetch_add(count, std::memory_order_relaxed);
    if (first >= blocks) break;
    if (launch.trace && !here) here.emplace(launch);
    if (here) here->add(first, std::min(count, blocks - first));
    run_blocks(launch, first, std::min(count, blocks - first));
    taken += std::min(count, blocks - first);
    seen = launch.next.load(std::memory_order_relaxed);
  }
  if (taken) keep_pace(launch, nanoseconds_since(begin), taken);
}

// All of it on this thread.
template <class Run>
void run_here(const CpuLaunch& launch, uint64_t blocks, const Run& run) {
  if (!launch.trace) [[likely]]
    return run();
  RunHere here(launch);
  here.add(0, blocks);
  run();
}

// What ended sooner last time than other threads take to come is run on this one; when it takes longer now, with other
// arguments, the rest is left to them. Returns the blocks that were run.
uint64_t run_short(CpuLaunch& launch, uint64_t blocks) {
  constexpr uint64_t kWorthWaking = 2000;  // ns
  const uint64_t each = launch.block_ns ? launch.block_ns->load(std::memory_order_relaxed) : 0;
  if (!launch.code.run_block || each == 0 || blocks > kWorthWaking / each) return 0;
  std::optional<RunHere> here;
  if (launch.trace) here.emplace(launch);
  const auto begin = Clock::now();
  uint64_t done = 0;
  do {
    const uint64_t count = (blocks - done + 1) / 2;
    if (here) here->add(done, count);
    run_blocks(launch, done, count);
    done += count;
  } while (done < blocks && nanoseconds_since(begin) < kWorthWaking);
  keep_pace(launch, nanoseconds_since(begin), done);
  return done;
}

// All threads take blocks from `done` on.
void run_long(CpuLaunch& launch, uint64_t done, uint64_t blocks) {
  launch.next.store(done, std::memory_order_relaxed);
  const uint64_t workers = std::min<uint64_t>(blocks - done, static_cast<uint64_t>(pool().threads()));
  pool().run(static_cast<int>(workers), [&](int, int) { take_blocks(launch, blocks, workers); });
}

// What was found fails the launch; what made it fail is told among what was found.
void report_checks(CpuLaunch& launch) {
  const bool failed = launch.failed.load(std::memory_order_acquire);
  std::string text = launch.checks->report();
  if (text.empty() && failed && launch.error_code == ErrorCode::device) {
    Finding finding;
    finding.check = is_of_barriers(launch.error) ? "barrier" : "failure";
    finding.about = launch.error;
    report(finding);
  }
  if (!text.empty()) launch.fail(ErrorCode::device, text);
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
    run_here(launch, blocks, [&] { Executor::of_this_thread().run_threads(launch, 0, blocks); });
  } else if (blocks == 1 || launch.on_caller) {
    run_here(launch, blocks, [&] { run_blocks(launch, 0, blocks); });
  } else {
    const uint64_t done = run_short(launch, blocks);
    if (done < blocks) run_long(launch, done, blocks);
  }
  if (launch.checks) report_checks(launch);
  if (launch.failed.load(std::memory_order_acquire)) throw Error(launch.error_code, launch.error);
}

}  // namespace trine::simt
