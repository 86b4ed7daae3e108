// Values that several ways to a join compute alike: right in every lane, and one for all lanes where they are.
#include <gtest/gtest.h>

#include "lanes_program.h"

namespace trine::simt {
namespace {

using Ints = std::vector<int>;

Ints random_ints(size_t count) {
  static std::mt19937 random(test_seed());
  Ints values(count);
  for (int& value : values) value = int(random() % 1000);
  return values;
}

// The number of the block is asked for before and behind the branch: LLVM joins both by a phi.
TEST(Joins, BlockIndicesAreNotKeptForEachLane) {
  LanesProgram program(R"(__global__ void k(const int* in, int* out, int n) {
    __shared__ int first[16];
    int t = threadIdx.x, sum = 0;
    if (t < 16) first[t] = in[t * gridDim.x + blockIdx.x];
    int i = 0;
    do {
      __syncthreads();
      sum = sum * 3 + first[i & 15] + in[(blockIdx.x * n + i) * blockDim.x + t];
    } while (++i < n);
    out[blockIdx.x * blockDim.x + t] = sum; })");
  constexpr uint32_t kBlocks = 3;
  constexpr int kRounds = 5;
  for (const int width : kWidths)
    for (const uint32_t block : {32u, 96u, 256u}) {
      const Ints in = random_ints(kBlocks * block * kRounds);
      Ints out(kBlocks * block, -1);
      program.run("k", {kBlocks}, {block}, width, in.data(), out.data(), kRounds);
      for (uint32_t b = 0; b < kBlocks; ++b)
        for (uint32_t t = 0; t < block; ++t) {
          int sum = 0;
          for (uint32_t i = 0; i < kRounds; ++i)
            sum = sum * 3 + in[size_t(i * kBlocks + b)] + in[size_t((b * kRounds + i) * block + t)];
          ASSERT_EQ(out[size_t(b * block + t)], sum) << "width " << width << ", block " << b << ", thread " << t;
        }
      const uint32_t groups = block / uint32_t(width);
      const uint32_t kept = program.compiled(program.find("k"), {block}, width).frame_bytes;
      // `sum`, some words that are the same for all lanes, and what rounding up to lines of the cache adds.
      EXPECT_LE(kept, groups * (4 * uint32_t(width) + 64) + 12 * 64) << "width " << width << ", block " << block;
    }
}

TEST(Joins, RimsAndInnerCellsShareAnIndex) {
  LanesProgram program(R"(__global__ void k(const int* in, int* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    bool rim = x == 0 || y == 0 || x == n - 1 || y == n - 1;
    int i = y * n + x;
    out[i] = rim ? in[i] : in[i - 1] + in[i + 1] * 2 + in[i - n] * 3 + in[i + n] * 5; })");
  const Dim3 blocks[] = {{32, 8}, {16, 2}, {64, 1}, {5, 3}};
  for (const int n : {1, 2, 31, 32, 33, 70})
    for (const Dim3& block : blocks)
      for (const int width : kWidths) {
        const auto cells = size_t(n) * size_t(n);
        const Ints in = random_ints(cells);
        Ints out(cells + 1, -1);
        const auto number = uint32_t(n);
        program.run("k", {(number + block.x - 1) / block.x, (number + block.y - 1) / block.y}, block, width, in.data(),
                    out.data(), n);
        for (int y = 0; y < n; ++y)
          for (int x = 0; x < n; ++x) {
            const int* at = in.data() + y * n + x;
            const bool rim = x == 0 || y == 0 || x == n - 1 || y == n - 1;
            const int expected = rim ? at[0] : at[-1] + at[1] * 2 + at[-n] * 3 + at[n] * 5;
            ASSERT_EQ(out[size_t(y * n + x)], expected) << n << ", width " << width << ", " << x << ", " << y;
          }
        ASSERT_EQ(out[cells], -1);
      }
}

}  // namespace
}  // namespace trine::simt
