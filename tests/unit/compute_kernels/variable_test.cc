// Variables of a module, seen from the host, and parameters of every kind.
#include <gtest/gtest.h>

#include <cstring>

#include "kernel_case.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

TEST(KernelVariables, LiveOnceForAllKernels) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __device__ int counter = 5;
      __constant__ float factors[4] = {1, 2, 3, 4};
      static __device__ int hidden = 100;
      __device__ int* place = &counter;
      __device__ int (*chosen)(int);
      __device__ int square(int v) { return v * v; }
      __global__ void add(int v) { atomicAdd(&counter, v); atomicAdd(&hidden, v); chosen = square; }
      __global__ void read(int* out) { out[0] = *place; out[1] = hidden; out[2] = (int)factors[2]; out[3] = chosen(7);
        out[4] = place == &counter; })",
                                        {.mode = CpuMode::threads});
  Stream stream = device.create_stream();
  const Module::Variable counter = module.variable("counter"), factors = module.variable("factors");
  ASSERT_EQ(counter.bytes, sizeof(int));
  ASSERT_EQ(factors.bytes, 4 * sizeof(float));
  EXPECT_EQ(*static_cast<int*>(counter.address), 5);
  EXPECT_EQ(static_cast<float*>(factors.address)[3], 4.0f);
  static_cast<float*>(factors.address)[2] = 70;
  module.kernel("add").launch(stream, {.grid = {2}, .block = {32}}, 3);
  EXPECT_EQ(*static_cast<int*>(counter.address), 5 + 192);
  const Buffer out = device.allocate(5 * sizeof(int));
  module.kernel("read").launch(stream, {}, static_cast<int*>(out.data()));
  const int* values = static_cast<int*>(out.data());
  EXPECT_EQ(values[0], 197);
  EXPECT_EQ(values[1], 292);
  EXPECT_EQ(values[2], 70);
  EXPECT_EQ(values[3], 49);
  EXPECT_EQ(values[4], 1);
  EXPECT_THROW(module.variable("none"), Error);
}

struct Small {
  char c;
  double d;
  short s;
};
struct alignas(32) Wide {
  float f[9];
};

TEST(KernelParameters, StructsAreCopies) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      struct Small { char c; double d; short s; };
      struct alignas(32) Wide { float f[9]; };
      __device__ __noinline__ void change(Small& s) { s.d += 1; }
      __global__ void k(bool b, Small s, char c, Wide w, short h, long long l, double* out) {
        change(s); w.f[8] *= 2;
        if (threadIdx.x == 2) { double all[] = {(double)b, (double)s.c, s.d, (double)s.s, (double)c, w.f[0], w.f[8], (double)h, (double)l,
          (double)((unsigned long long)&w % 32)}; for (int i = 0; i < 10; ++i) out[i] = all[i]; } })",
                                        {.mode = CpuMode::threads});
  Stream stream = device.create_stream();
  const Buffer out = device.allocate(10 * sizeof(double));
  const Small small{'a', 0.5, -3};
  Wide wide{};
  wide.f[0] = 1.25f;
  wide.f[8] = 3.5f;
  module.kernel("k").launch(stream, {.block = {4}}, true, small, 'z', wide, short{-7}, 1LL << 40,
                            static_cast<double*>(out.data()));
  const double expected[] = {1, 'a', 1.5, -3, 'z', 1.25, 7, -7, 1099511627776.0, 0};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(static_cast<double*>(out.data())[i], expected[i]) << i;
  EXPECT_EQ(small.d, 0.5);
}

TEST(KernelParameters, ManyBytes) {
  struct Large {
    int v[1000];
  };
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      struct Large { int v[1000]; };
      __global__ void k(Large large, int* out) { out[threadIdx.x] = large.v[threadIdx.x]; })",
                                        {.mode = CpuMode::threads});
  Large large;
  for (int i = 0; i < 1000; ++i) large.v[i] = i * i;
  Stream stream = device.create_stream();
  const Buffer out = device.allocate(sizeof(Large));
  module.kernel("k").launch(stream, {.block = {1000}}, large, static_cast<int*>(out.data()));
  EXPECT_EQ(std::memcmp(out.data(), large.v, sizeof(large)), 0);
}

TEST(KernelTemplates, AreNamedAsTheyAreWritten) {
  const Device device = Device::open("cpu");
  const Module module =
      Module::compile(device, "template <class T, int n> __global__ void fill(T* out) { out[threadIdx.x] = T(n) / 2; }",
                      {.instances = {"fill<float, 5>", "fill<int, 5>"}, .mode = CpuMode::threads});
  Stream stream = device.create_stream();
  const Buffer out = device.allocate(64);
  module.kernel("fill<float, 5>").launch(stream, {.block = {16}}, static_cast<float*>(out.data()));
  EXPECT_EQ(static_cast<float*>(out.data())[15], 2.5f);
  module.kernel("fill<int, 5>").launch(stream, {.block = {16}}, static_cast<int*>(out.data()));
  EXPECT_EQ(static_cast<int*>(out.data())[15], 2);
}

TEST(KernelDebug, RunsWithoutOptimisation) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __device__ volatile int flag = 0;
      __global__ void k(int* out) {
        __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
        if (threadIdx.x == 0) while (flag == 0) ;
        if (threadIdx.x == 63) flag = 1;
        out[threadIdx.x] = s[63 - threadIdx.x] + __shfl_xor_sync(0xffffffffu, threadIdx.x, 1); })",
                                        {.debug = true});
  Stream stream = device.create_stream();
  const Buffer out = device.allocate(64 * sizeof(int));
  module.kernel("k").launch(stream, {.block = {64}}, static_cast<int*>(out.data()));
  for (int t = 0; t < 64; ++t) EXPECT_EQ(static_cast<int*>(out.data())[t], 63 - t + (t ^ 1)) << t;
}

}  // namespace
}  // namespace trine::compute
