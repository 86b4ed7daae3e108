// Kernels of the CPU in graphs.
#include "trine/compute/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "trine/compute/module.h"

namespace trine::compute {
namespace {

class GraphOfKernels : public testing::TestWithParam<CpuMode> {};

TEST_P(GraphOfKernels, ReplaysAndIsUpdated) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Kernel scale = Module::compile(cpu, R"(
      __global__ void scale(float* x, float a, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] *= a;
      })",
                                       {.mode = GetParam()})
                           .kernel("scale");
  const unsigned seed = std::random_device{}();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-9, 9);
  for (const int n : {1, 31, 32, 33, 96, 256, 1024}) {
    const size_t count = static_cast<size_t>(n), bytes = count * sizeof(float);
    std::vector<float> in(count), out(count);
    Buffer x = cpu.allocate(bytes);
    const LaunchShape shape{.grid = {(static_cast<uint32_t>(n) + 63) / 64}, .block = {64}};
    stream.begin_capture();
    stream.upload(x, 0, in.data(), bytes);
    scale.launch(stream, shape, x.data(), 2.0f, n);
    scale.launch(stream, shape, x.data(), 4.0f, n);
    stream.download(out.data(), x, 0, bytes);
    Graph graph = stream.end_capture();
    ASSERT_EQ(graph.kernels(), 2u);
    const auto expect = [&](float factor, int limit) {
      for (float& value : in) value = distribution(random);
      std::fill(out.begin(), out.end(), -77.0f);
      graph.launch(stream);
      stream.synchronize();
      for (int i = 0; i < n; ++i) ASSERT_EQ(out[i], in[i] * 2.0f * (i < limit ? factor : 1.0f)) << n << " at " << i;
    };
    expect(4, n);
    expect(4, n);
    graph.update(1, shape, x.data(), 8.0f, n / 2);
    expect(8, n / 2);
  }
}
INSTANTIATE_TEST_SUITE_P(Modes, GraphOfKernels, testing::Values(CpuMode::threads, CpuMode::lanes));

}  // namespace
}  // namespace trine::compute
