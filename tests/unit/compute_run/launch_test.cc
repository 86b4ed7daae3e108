// The runtime of kernels on the CPU, with kernels written by hand against its functions: no compiler, so that the
// thread sanitizer sees all of it. Launches come from several host threads at once.
#include "simt/run/launch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "simt/run/abi.h"

namespace trine::simt {
namespace {

constexpr uint32_t kAll = ~0u;

struct Parameters {
  int* out;
  int seed;
};

Parameters parameters_of(const void* p) {
  Parameters parameters;
  std::memcpy(&parameters, p, sizeof parameters);
  return parameters;
}

int thread_of_grid() {
  const ThreadState& me = *trine_simt_thread();
  const BlockState& block = *me.block;
  const auto size = block.block_dim[0] * block.block_dim[1] * block.block_dim[2];
  return static_cast<int>(block.block_index[0] * size + me.linear);
}

void barrier() { trine_simt_barrier(static_cast<int32_t>(BarrierKind::plain), 0, 0, 0); }

// Each thread takes what the last but itself has written, ten times.
void reverse(const void* p) {
  const auto [out, seed] = parameters_of(p);
  const ThreadState& me = *trine_simt_thread();
  const auto size = me.block->block_dim[0];
  auto* shared = reinterpret_cast<int*>(me.block->shared);
  for (int round = 0; round < 10; ++round) {
    shared[me.linear] = seed + round + static_cast<int>(me.linear);
    barrier();
    out[thread_of_grid()] = shared[size - 1 - me.linear];
    barrier();
  }
}

// Shuffles, votes and reductions of warps; the second half of a block leaves at once.
void warps(const void* p) {
  const auto [out, seed] = parameters_of(p);
  const ThreadState& me = *trine_simt_thread();
  if (me.linear >= me.block->block_dim[0] / 2) {
    out[thread_of_grid()] = seed;
    trine_simt_exit();
  }
  int32_t inside = 0;
  const auto up = static_cast<int32_t>(ShuffleKind::butterfly);
  const uint32_t other = trine_simt_shuffle(up, kAll, me.linear, 1, 31, &inside);
  const uint32_t odd = trine_simt_vote(static_cast<int32_t>(VoteKind::ballot), kAll, me.linear & 1);
  const uint32_t sum = trine_simt_reduce(static_cast<int32_t>(ReduceKind::add), kAll, 1);
  const int voted = trine_simt_barrier(static_cast<int32_t>(BarrierKind::count_true), 0, 0, 1);
  out[thread_of_grid()] = seed + static_cast<int>(other ^ 1) + (odd == 0xaaaaaaaa) + static_cast<int>(sum) + voted;
}

void lanes(BlockState* block, const void* p) {
  const auto [out, seed] = parameters_of(p);
  for (uint32_t t = 0; t < block->block_dim[0]; ++t) {
    trine_simt_set_lane(t);
    const auto i = block->block_index[0] * block->block_dim[0] + t;
    out[i] = seed + static_cast<int>(i);
    if (t == 3 && seed < 0 && block->block_index[0] == 5) trine_simt_trap();
  }
}

void trap(const void* p) {
  const auto [out, seed] = parameters_of(p);
  const ThreadState& me = *trine_simt_thread();
  barrier();
  if (me.block->block_index[0] == 2 && me.linear == 7) trine_simt_trap();
  barrier();
  out[thread_of_grid()] = seed;
}

void half_meets(const void*) {
  if (trine_simt_thread()->linear % 2) trine_simt_barrier(static_cast<int32_t>(BarrierKind::plain), 1, 64, 0);
  else barrier();
}

void grid(const void* p) {
  const auto [out, seed] = parameters_of(p);
  const int i = thread_of_grid(), n = static_cast<int>(trine_simt_thread()->block->grid_dim[0]) * 32;
  std::atomic_ref(out[n]).fetch_add(1);
  trine_simt_grid_sync();
  out[i] = out[n] + seed;
}

std::string run(ThreadFunction run_thread, BlockFunction run_block, const compute::LaunchShape& shape, int* out,
                int seed) {
  const Parameters parameters{out, seed};
  CpuLaunch launch{.name = "by hand",
                   .code = {.run_thread = run_thread, .run_block = run_block, .shared_bytes = 1024 * sizeof(int)},
                   .parameters = &parameters,
                   .shape = shape};
  try {
    run_launch(launch);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void on_host_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h) hosts.emplace_back([&, h] { work(h); });
  for (std::thread& host : hosts) host.join();
}

TEST(Launches, ThreadsMeetAtBarriers) {
  for (const int size : {1, 31, 32, 33, 96, 256, 1024})
    on_host_threads([size](int h) {
      const uint32_t blocks = 5;
      std::vector<int> out(static_cast<size_t>(size) * blocks);
      for (int i = 0; i < 3; ++i) {
        const int seed = 1000 * h + i;
        ASSERT_EQ(run(reverse, nullptr, {{blocks}, {static_cast<uint32_t>(size)}}, out.data(), seed), "");
        for (size_t j = 0; j < out.size(); ++j)
          ASSERT_EQ(out[j], seed + 9 + size - 1 - static_cast<int>(j) % size) << size;
      }
    });
}

TEST(Launches, WarpsWorkTogether) {
  on_host_threads([](int h) {
    std::vector<int> out(7 * 128);
    ASSERT_EQ(run(warps, nullptr, {{7}, {128}}, out.data(), h), "");
    for (int i = 0; i < 7 * 128; ++i)
      ASSERT_EQ(out[static_cast<size_t>(i)], i % 128 < 64 ? h + i % 128 + 1 + 32 + 64 : h) << i;
  });
}

TEST(Launches, BlocksOfLanesRunOnAllWorkers) {
  on_host_threads([](int h) {
    std::vector<int> out(500 * 33);
    for (int round = 0; round < 5; ++round) {
      ASSERT_EQ(run(nullptr, lanes, {{500}, {33}}, out.data(), h), "");
      for (int i = 0; i < 500 * 33; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], h + i);
      EXPECT_NE(run(nullptr, lanes, {{500}, {33}}, out.data(), -h - 1).find("block (5,0,0), thread (3,0,0): trap"),
                std::string::npos);
    }
  });
}

TEST(Launches, FailuresLeaveTheRuntimeSound) {
  on_host_threads([](int h) {
    std::vector<int> out(6 * 64);
    for (int round = 0; round < 5; ++round) {
      EXPECT_NE(run(trap, nullptr, {{6}, {64}}, out.data(), 1).find("block (2,0,0), thread (7,0,0): trap"),
                std::string::npos);
      EXPECT_NE(run(half_meets, nullptr, {{2}, {64}}, out.data(), 1).find("threads wait for what never comes"),
                std::string::npos);
      ASSERT_EQ(run(reverse, nullptr, {{6}, {64}}, out.data(), h), "");
      for (int j = 0; j < 6 * 64; ++j) ASSERT_EQ(out[static_cast<size_t>(j)], h + 9 + 63 - j % 64);
    }
  });
}

TEST(Launches, GridsMeet) {
  on_host_threads([](int h) {
    std::vector<int> out(9 * 32 + 1, 0);
    compute::LaunchShape shape{{9}, {32}};
    shape.cooperative = true;
    ASSERT_EQ(run(grid, nullptr, shape, out.data(), h), "");
    for (int i = 0; i < 9 * 32; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], 9 * 32 + h);
  });
}

}  // namespace
}  // namespace trine::simt
