// Random nests of control flow, in every width, against the same program run here.
#include <gtest/gtest.h>

#include "lanes_program.h"
#include "random_kernel.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr uint32_t kSizes[] = {1, 31, 32, 33, 96, 256};

void check(uint32_t seed) {
  const RandomKernel kernel(seed);
  LanesProgram program(kernel.text());
  std::mt19937 random(seed);
  std::vector<uint32_t> in(kIn);
  for (uint32_t& x : in) x = random() % 3 ? random() % 16 : random();
  const uint32_t u0 = random() % 8, u1 = random();
  for (const int width : {kWidths[seed % 3], 0}) {
    const uint32_t threads = kSizes[random() % std::size(kSizes)], blocks = 1 + random() % 3;
    std::vector<uint32_t> out(size_t{8} * threads * blocks, 0x5a5a5a5a), expected = out;
    for (uint32_t b = 0; b < blocks; ++b) kernel.run(in, expected.data() + size_t{8} * threads * b, u0, u1, threads, b);
    program.run("k", {blocks}, {threads}, width, in.data(), out.data(), u0, u1);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], expected[i]) << "kernel " << seed << ", width " << width << ", " << threads
                                     << " threads: element " << i % 8 << " of thread " << i / 8 << "\n"
                                     << kernel.text();
  }
}

TEST(LanesFuzz, RandomKernels) {
  const char* one = std::getenv("TRINE_KERNEL");
  if (one) return check(uint32_t(std::atoll(one)));
  const char* many = std::getenv("TRINE_KERNELS");
  std::mt19937 seeds(test_seed());
  for (int i = 0, count = many ? std::atoi(many) : 30; i < count && !testing::Test::HasFatalFailure(); ++i) {
    const uint32_t seed = seeds();
    SCOPED_TRACE("TRINE_KERNEL=" + std::to_string(seed));
    try {
      check(seed);
    } catch (const Error& error) {
      FAIL() << error.what() << "\n" << RandomKernel(seed).text();
    }
  }
}

TEST(LanesFuzz, KernelsThatOnceFailed) {
  check(851969323);   // a block that InstCombine cut off
  check(1761594843);  // an index `or disjoint`, lane 0 not running
}

}  // namespace
}  // namespace trine::simt
