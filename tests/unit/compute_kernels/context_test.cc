// Contexts of both kinds, and launches from several host threads at once.
#include "simt/run/context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

template <class Context>
struct PingPong {
  static inline Context here, there;
  static inline int count = 0;
  static inline double kept = 0;

  [[noreturn]] static void run() {
    double sum = 0;
    for (int i = 0;; ++i) {
      sum += i * 0.5;  // lives across switches
      kept = sum;
      ++count;
      Context::swap(there, here);
    }
  }

  static void play() {
    std::vector<char> stack(64 << 10);
    there.begin(stack.data(), stack.size(), run);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(count, i);
      Context::swap(here, there);
    }
    EXPECT_EQ(count, 1000);
    EXPECT_EQ(kept, 999 * 1000 / 2 * 0.5);
  }
};

TEST(Context, SwitchesThereAndBack) {
#if defined(__x86_64__)
  PingPong<simt::RegisterContext>::play();
#endif
  PingPong<simt::PortableContext>::play();
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  size_t count = 0;
  while (std::getline(maps, line)) ++count;
  return count;
}

TEST(Launches, GiveStacksBackThatOnlyGridsNeed) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      #include <cooperative_groups.h>
      __global__ void k(int* sum, int fail) {
        cooperative_groups::this_grid().sync(); atomicAdd(sum, 1);
        if (fail && blockIdx.x == 5) __trap(); })",
                                        {.mode = CpuMode::threads});
  const size_t before = mappings();
  int sum = 0;
  for (int fail : {0, 1, 0}) {
    Stream stream = device.create_stream();
    sum = 0;
    const LaunchShape shape{.grid = {32}, .block = {256}, .cooperative = true};
    const auto launch = [&] { module.kernel("k").launch(stream, shape, &sum, fail); };
    if (fail) {
      EXPECT_THROW(launch(), Error);
    } else {
      launch();
      EXPECT_EQ(sum, 8192);
    }
    EXPECT_LT(mappings(), before + 3000);  // two for each stack that is kept
  }
}

TEST(Launches, FromManyHostThreads) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __global__ void k(int* out, int seed) {
        __shared__ int s[96]; int t = threadIdx.x;
        for (int round = 0; round < 10; ++round) { s[t] = seed + round + t; __syncthreads(); out[blockIdx.x * 96 + t] = s[95 - t]; __syncthreads(); } })",
                                        {.mode = CpuMode::threads});
  const Kernel kernel = module.kernel("k");
  std::atomic<int> wrong{0};
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([&, h] {
      Stream stream = device.create_stream();
      std::vector<int> out(6 * 96);
      for (int i = 0; i < 30; ++i) {
        const int seed = h * 1000 + i;
        kernel.launch(stream, {.grid = {6}, .block = {96}}, out.data(), seed);
        for (int j = 0; j < 6 * 96; ++j) wrong += out[static_cast<size_t>(j)] != seed + 9 + 95 - j % 96;
      }
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trine::compute
