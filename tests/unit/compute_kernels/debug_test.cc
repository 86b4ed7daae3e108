// Kernels for a debugger run in an order that it can follow. What gdb sees is the test `debugger`.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

TEST(Debug, BlocksRunOneAfterTheOther) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Module module = Module::compile(cpu, R"(
      __device__ int taken;
      __global__ void take(int* order) {
        __shared__ int mine;
        if (threadIdx.x == 0) mine = atomicAdd(&taken, 1);
        __syncthreads();
        if (threadIdx.x == 0) order[mine] = blockIdx.x + gridDim.x * blockIdx.y;
      })",
                                        {.debug = true});
  const Buffer order = cpu.allocate(200 * sizeof(int));
  module.kernel("take").launch(stream, {.grid = {20, 10}, .block = {33}}, order.data());
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  const int* found = static_cast<const int*>(order.data());
  EXPECT_EQ(std::vector<int>(found, found + 200), expected);
}

TEST(Debug, TheFirstFailureEndsTheLaunch) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Module module = Module::compile(cpu, R"(
      __global__ void fail(int* begun) {
        ++*begun;
        if (blockIdx.x == 2) __trap();
      })",
                                        {.debug = true});
  const Buffer begun = cpu.allocate(sizeof(int));
  stream.fill(begun, 0);
  EXPECT_THROW(module.kernel("fail").launch(stream, {.grid = {50}}, begun.data()), Error);
  EXPECT_EQ(*static_cast<const int*>(begun.data()), 3);
}

// Inlined calls, shared variables of every kind and functions without lines keep their meaning beside the variables
// that debuggers are told of.
TEST(Debug, CodeStaysRight) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Module module = Module::compile(cpu, R"(
      __shared__ int outside[64];
      struct Pair { int a; double b; };
      template <class T> __device__ T twice(T x) { return x + x; }
      __device__ int other() { __shared__ Pair pair; pair.a = 5; __syncthreads(); return pair.a; }
      __global__ void sum(int* out) {
        extern __shared__ double dynamic[];
        __shared__ int inside[64];
        const int t = threadIdx.x;
        outside[t] = t;
        inside[t] = twice(t);
        dynamic[t] = 0.5 * t;
        __syncthreads();
        const int o = (t + 1) % blockDim.x;
        out[t] = outside[o] + inside[o] + static_cast<int>(2 * dynamic[o]) + other();
      })",
                                        {.debug = true});
  const Buffer out = cpu.allocate(64 * sizeof(int));
  module.kernel("sum").launch(stream, {.block = {64}, .shared_bytes = 512}, out.data());
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(static_cast<const int*>(out.data())[t], 4 * ((t + 1) % 64) + 5) << "thread " << t;
}

}  // namespace
}  // namespace trine::compute
