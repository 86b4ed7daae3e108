// Blocks that run as one function (mode lanes), written here by hand: what the runtime gives them and takes from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "simt/run/launch.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

struct Seen {
  std::vector<std::atomic<int>>* blocks;
  std::atomic<int>* wrong;
};

std::string error_of(CpuLaunch& launch) {
  try {
    run_launch(launch);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

CpuLaunch launch_of(BlockFunction run, const void* parameters, const compute::LaunchShape& shape) {
  return {.name = "by_hand()",
          .code = {.run_block = run, .shared_bytes = 40, .frame_bytes = 1000},
          .parameters = parameters,
          .shape = shape};
}

void count_block(BlockState* block, const void* parameters) {
  const Seen& seen = *static_cast<const Seen*>(parameters);
  const uint32_t* i = block->block_index;
  const uint32_t* n = block->grid_dim;
  ++(*seen.blocks)[(i[2] * n[1] + i[1]) * n[0] + i[0]];
  const auto aligned = [](const char* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; };
  *seen.wrong += !aligned(block->shared) || !aligned(block->frame) || block->dynamic_shared_bytes != 8;
  *seen.wrong += block->frame < block->shared + 48 || block->block_dim[1] != 5;
  for (int b = 0; b < 48; ++b) block->shared[b] = 1;
  for (int b = 0; b < 1000; ++b) block->frame[b] = 1;
}

TEST(Blocks, RunOnceEachWithTheirMemory) {
  // The last are enough for a thread to take many at once.
  for (const compute::Dim3 grid : {compute::Dim3{1}, {7}, {33, 2, 3}, {300'007}, {101, 103, 31}}) {
    std::vector<std::atomic<int>> blocks(grid.volume());
    std::atomic<int> wrong{0};
    const Seen seen{&blocks, &wrong};
    CpuLaunch launch = launch_of(count_block, &seen, {.grid = grid, .block = {3, 5}, .shared_bytes = 8});
    run_launch(launch);
    EXPECT_TRUE(std::all_of(blocks.begin(), blocks.end(), [](const auto& count) { return count == 1; }));
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Blocks, AssertEndsTheLaunch) {
  const auto run = [](BlockState* block, const void*) {
    if (block->block_index[0] != 2) return;
    trine_simt_set_lane(17);
    trine_simt_assert_fail("x > 0", "kernel.cu", 12, "by_hand()");
  };
  for (int i = 0; i < 3; ++i) {
    CpuLaunch launch = launch_of(run, nullptr, {.grid = {5}, .block = {8, 4}});
    EXPECT_EQ(
        error_of(launch),
        "kernel 'by_hand()', block (2,0,0), thread (1,2,0): assertion 'x > 0' failed at kernel.cu:12 in by_hand()");
  }
}

TEST(Blocks, TrapsAndFaultsEndTheLaunch) {
  const auto trap = [](BlockState*, const void*) { trine_simt_trap(); };
  const auto fault = [](BlockState*, const void* parameters) { **static_cast<int* volatile const*>(parameters) = 1; };
  CpuLaunch trapped = launch_of(trap, nullptr, {.block = {32}});
  EXPECT_EQ(error_of(trapped), "kernel 'by_hand()', block (0,0,0), thread (0,0,0): trap");
  int* nowhere = reinterpret_cast<int*>(uintptr_t{96});
  for (uint32_t blocks : {1u, 9u}) {
    CpuLaunch faulty = launch_of(fault, &nowhere, {.grid = {blocks}, .block = {32}});
    EXPECT_NE(error_of(faulty).find("write of 0x60, where it has no memory"), std::string::npos);
  }
}

TEST(Blocks, PrintAndAllocate) {
  const auto run = [](BlockState* block, const void*) {
    const struct {
      int a;
      double b;
    } packed{static_cast<int>(block->block_dim[0]), 2.5};
    char* memory = static_cast<char*>(trine_simt_malloc(16));
    memory[15] = 'x';
    trine_simt_free(memory);
    trine_simt_vprintf("%d threads, %.1f\n", &packed);
  };
  testing::internal::CaptureStdout();
  CpuLaunch launch = launch_of(run, nullptr, {.block = {6}});
  run_launch(launch);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "6 threads, 2.5\n");
}

TEST(Blocks, SharedMemoryHasALimit) {
  const auto run = [](BlockState*, const void*) {};
  CpuLaunch fits = launch_of(run, nullptr, {.block = {1}, .shared_bytes = kMostSharedBytes - 40});
  run_launch(fits);
  CpuLaunch large = launch_of(run, nullptr, {.block = {1}, .shared_bytes = kMostSharedBytes - 39});
  EXPECT_NE(error_of(large).find("a block has 232448"), std::string::npos);
}

}  // namespace
}  // namespace trine::simt
