// What the replay of a graph costs on the CPU: 100 small kernels, each behind the one before, beside the sum of their
// bodies. The bodies' time is that of one launch whose grid holds the blocks of all 100, so that starting and ending is
// paid once. Both alternate; printed are medians in microseconds and their ratio.
//
//   bench_replay [device]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace {

using trine::compute::Buffer;
using trine::compute::Device;
using trine::compute::Graph;
using trine::compute::Kernel;
using trine::compute::Module;
using trine::compute::Stream;

constexpr int kKernels = 100, kRounds = 201;
constexpr uint32_t kThreads = 256;

// `repeats` sets the time of a block. Every kernel has numbers of its own.
constexpr const char* kSource = R"(
__global__ void step(float* x, int repeats) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int r = 0; r < repeats; ++r) v = v * 0.999f + 0.5f;
  x[i] = v;
}
)";

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

template <class Work>
double microseconds(Stream& stream, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  stream.synchronize();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void measure(const Device& device, const Kernel& kernel, uint32_t blocks, int repeats) {
  Stream stream = device.create_stream();
  const Buffer x = device.allocate(size_t{kKernels} * blocks * kThreads * sizeof(float));
  stream.fill(x, 0);
  stream.begin_capture();
  for (size_t i = 0; i < kKernels; ++i)
    kernel.launch(stream, {.grid = {blocks}, .block = {kThreads}},
                  static_cast<float*>(x.data()) + size_t{blocks} * kThreads * i, repeats);
  const Graph graph = stream.end_capture();
  std::vector<double> replays, bodies;
  for (int i = 0; i < kRounds; ++i) {
    replays.push_back(microseconds(stream, [&] { graph.launch(stream); }));
    bodies.push_back(microseconds(
        stream, [&] { kernel.launch(stream, {.grid = {blocks * kKernels}, .block = {kThreads}}, x.data(), repeats); }));
  }
  const double replay = median(replays), body = median(bodies);
  std::printf("%6u %8d %12.1f %12.2f %12.1f %8.3f\n", blocks, repeats, body, body / kKernels, replay, replay / body);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Device device = Device::open(argc > 1 ? argv[1] : "cpu");
    const Kernel kernel = Module::compile(device, kSource).kernel("step");
    std::printf("%s: graphs of %d kernels, blocks of %u threads\n", device.info().name.c_str(), kKernels, kThreads);
    std::printf("%6s %8s %12s %12s %12s %8s\n", "blocks", "repeats", "bodies us", "each us", "replay us", "ratio");
    for (const uint32_t blocks : {1u, 2u, 8u, 32u, 128u})
      for (const int repeats : {1, 20, 200}) measure(device, kernel, blocks, repeats);
  } catch (const trine::Error& e) {
    std::fprintf(stderr, "bench_replay: %s\n", e.what());
    return static_cast<int>(e.code());
  }
  return 0;
}
