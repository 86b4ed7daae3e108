// ThreadPool: every part exactly once, for any number of threads and parts; nesting and sharing run inline.
#include "trine/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace trine {
namespace {

void expect_each_part_once(ThreadPool& pool, int parts) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(parts));
  pool.run(parts, [&](int part, int) { ++seen[static_cast<size_t>(part)]; });
  for (int i = 0; i < parts; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], 1) << "part " << i << " of " << parts;
}

TEST(ThreadPool, RunsEveryPartOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    for (int parts : {0, 1, 2, 3, 5, 8, 100, 70000}) expect_each_part_once(pool, parts);
  }
}

TEST(ThreadPool, ManySmallJobsInARow) {
  ThreadPool pool(3);
  int64_t sum = 0;
  for (int i = 0; i < 20000; ++i) {
    std::atomic<int> here{0};
    pool.run(3, [&](int part, int) { here += part + 1; });
    sum += here;
  }
  EXPECT_EQ(sum, 20000 * 6);
}

TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPool pool(4);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers spin 50 us, then sleep
    expect_each_part_once(pool, 4);
  }
}

TEST(ThreadPool, NestedCallsRunInline) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.run(4, [&](int, int) { pool.run(5, [&](int, int) { ++count; }); });
  EXPECT_EQ(count, 20);
}

TEST(ThreadPool, TwoCallersShareOnePool) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  auto caller = [&] {
    for (int i = 0; i < 2000; ++i) pool.run(2, [&](int, int) { ++count; });
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(count, 8000);
}

TEST(ThreadPool, ParallelForCoversTheRange) {
  ThreadPool pool(3);
  for (int64_t n : {0, 1, 2, 3, 10, 1001}) {
    for (int64_t grain : {1, 4, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      std::atomic<int> calls{0};
      pool.parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        ++calls;
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      for (auto& s : seen) EXPECT_EQ(s, 1);
      EXPECT_LE(calls, std::max<int64_t>(1, n / grain));
      EXPECT_LE(calls, 4 * pool.threads());
    }
  }
}

// Threads that work at the same time have different numbers: each may use scratch memory of its own.
TEST(ThreadPool, ThreadNumbersAreNotShared) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> using_it(4);
  std::atomic<int> collisions{0}, parts{0};
  for (int round = 0; round < 200; ++round)
    pool.run(64, [&](int, int thread) {
      ASSERT_TRUE(thread >= 0 && thread < 4);
      collisions += using_it[static_cast<size_t>(thread)].exchange(1);
      for (int i = 0; i < 200; ++i) parts.load();
      using_it[static_cast<size_t>(thread)] = 0;
      ++parts;
    });
  EXPECT_EQ(collisions, 0);
  EXPECT_EQ(parts, 200 * 64);
}

TEST(ThreadPool, ShortWorkIsDealtOnce) {
  ThreadPool pool(3);
  EXPECT_EQ(pool.parts_for(1e-6), 3);
  EXPECT_EQ(pool.parts_for(1), 12);
  EXPECT_EQ(ThreadPool::serial().parts_for(1), 1);
}

}  // namespace
}  // namespace trine
