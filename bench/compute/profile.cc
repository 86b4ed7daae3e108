// What the profiler costs: nanoseconds for each kind of event, recorded and not.
//
//   ninja -C build bench_profile && build/bin/bench_profile
//
// Rounds with and without it alternate; medians of them.
#include "trine/compute/profile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "trine/compute/module.h"

namespace {

using namespace trine::compute;

constexpr int kRounds = 101, kCalls = 400;

constexpr const char* kSource = R"(
__global__ void none() {}
__global__ void work(float* x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * 1.5f + 1; }
)";

double ns_each(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(const char* name, const std::function<void()>& call) {
  std::vector<double> off, on, differences;
  Profiler::start();
  for (int i = 0; i < kRounds; ++i) {
    Profiler::pause();
    off.push_back(ns_each(call));
    Profiler::resume();
    on.push_back(ns_each(call));
    differences.push_back(on.back() - off.back());
  }
  Profiler::stop();
  std::printf("%-32s %9.1f %9.1f %9.1f\n", name, median(off), median(on), median(differences));
}

}  // namespace

int main() {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Module module = Module::compile(cpu, kSource);
  const Kernel none = module.kernel("none"), work = module.kernel("work");
  constexpr int n = 16'384;
  Buffer x = cpu.allocate(n * 4);
  char byte = 0;
  std::printf("%-32s %9s %9s %9s\n", "nanoseconds each", "off", "on", "more");
  measure("range", [] { const Range range("range"); });
  measure("mark", [] { mark("mark"); });
  measure("upload of 1 byte", [&] { stream.upload(x, 0, &byte, 1); });
  measure("allocate and free", [&] { const Buffer buffer = cpu.allocate(64); });
  measure("launch, 1 block of 32, empty", [&] { none.launch(stream, {.block = {32}}); });
  measure("launch, 64 blocks of 32, empty", [&] { none.launch(stream, {.grid = {64}, .block = {32}}); });
  measure("launch, 1 block, 16384 floats", [&] { work.launch(stream, {.block = {256}}, x.data(), n); });
  return 0;
}
