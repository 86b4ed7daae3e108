// What goes wrong in kernels is an error that says where; nothing hangs.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

const Target kThreads{"cpu", CpuMode::threads};

struct FailureCase {
  const char* name;
  const char* source;
  Shape shape;
  std::vector<const char*> parts;  // of the message
};

#define TRINE_HEAD "__global__ void k(int* out) { int t = threadIdx.x;\n"

const FailureCase kFailures[] = {
    {"assert",
     TRINE_HEAD "assert(t != 7 || blockIdx.x != 1); }",
     {{3}, {32}},
     {"kernel 'k(int*)', block (1,0,0), thread (7,0,0): assertion 't != 7 || blockIdx.x != 1' failed at", "kernel.cu:2",
      "k(int"}},
    {"assert in a function",
     "__device__ void check(int v) {\n assert(v < 5 && \"small\"); }\n" TRINE_HEAD "check(t); }",
     {{1}, {8, 2}},
     {"thread (5,0,0): assertion 'v < 5", "kernel.cu:2", "check(int)"}},
    {"trap", TRINE_HEAD "if (t == 3) __trap(); out[t] = t; }", {{1}, {32}}, {"thread (3,0,0): trap", "kernel.cu:2"}},
    {"a barrier that some never reach: those who do wait elsewhere",
     TRINE_HEAD R"(
       if (t < 20) __syncthreads(); else __barrier_sync(1); })",
     {{2}, {64}},
     {"kernel 'k(int*)': threads wait for what never comes",
      "thread (0,0,0) to (19,0,0): barrier 0, where 20 of 64 threads are at kernel.cu:3",
      "thread (20,0,0) to (63,0,0): barrier 1"}},
    {"a named barrier with too few threads",
     TRINE_HEAD "if (t < 32) __barrier_sync_count(2, 64); }",
     {{1}, {64}},
     {"barrier 2, where 32 of 64 threads are"}},
    {"grid sync in a launch that is not cooperative",
     "#include <cooperative_groups.h>\n" TRINE_HEAD "cooperative_groups::this_grid().sync(); }",
     {{2}, {4}},
     {"grid sync in a launch that is not cooperative"}},
    {"a lane of the mask that never comes",
     TRINE_HEAD R"(
       if (t < 16) out[t] = __shfl_sync(0xffffffffu, t, 0); else __syncthreads(); })",
     {{1}, {32}},
     {"thread (0,0,0) to (15,0,0): shuffle with mask 0xffffffff at kernel.cu:3",
      "thread (16,0,0) to (31,0,0): barrier 0"}},
    {"a lane of the mask that has exited",
     TRINE_HEAD "if (t == 5) return; out[t] = __ballot_sync(0xffffffffu, 1); }",
     {{1}, {32}},
     {"thread (5,0,0): exits while lane 0 waits for it: vote with mask 0xffffffff"}},
    {"a lane that its mask leaves out",
     TRINE_HEAD "out[t] = __shfl_sync(0xffu, t, 0); }",
     {{1}, {32}},
     {"thread (8,0,0): shuffle with mask 0x000000ff", "by a lane that the mask leaves out"}},
    {"lanes in different operations",
     TRINE_HEAD R"(
       if (t % 2) out[t] = __ballot_sync(0xffffffffu, 1); else out[t] = __shfl_sync(0xffffffffu, t, 0); })",
     {{1}, {32}},
     {"vote with mask", "shuffle with mask"}},
    {"barrier counts that are no warps",
     TRINE_HEAD "__barrier_sync_count(1, 33); }",
     {{1}, {64}},
     {"barrier 1 for 33 threads", "multiples of 32"}},
    {"a write to nowhere",
     TRINE_HEAD "if (t == 9) *(int*)64 = t; }",
     {{1}, {32}},
     {"kernel 'k(int*)', block (0,0,0), thread (9,0,0): write of 0x40, where it has no memory"}},
    {"a read from nowhere",
     TRINE_HEAD "if (t == 2) out[0] = *(volatile int*)128; }",
     {{2}, {4}},
     {"thread (2,0,0): read of 0x80"}},
    {"division by zero",
     TRINE_HEAD "volatile int zero = 0; out[t] = 5 / zero; }",
     {{1}, {1}},
     {"thread (0,0,0): division by zero"}},
    {"endless recursion",
     R"(
       __device__ __noinline__ int deep(volatile int* a, int n) { volatile int b[64]; b[n % 64] = n; return deep(b, n + 1) + a[n % 64] + b[3]; }
     )" TRINE_HEAD "volatile int a[64]; out[t] = deep(a, t); }",
     {{1}, {2}},
     {"thread (0,0,0): stack overflow"}},
};

TEST(KernelFailures, SayWhereAndWhat) {
  for (const FailureCase& row : kFailures) {
    const std::string text = failure(kThreads, row.source, row.shape);
    for (const char* part : row.parts) EXPECT_NE(text.find(part), std::string::npos) << row.name << ": " << text;
  }
}

TEST(KernelFailures, StayWithTheirStream) {
  const Device device = Device::open("cpu");
  const Module module =
      Module::compile(device, "__global__ void k(int fail) { assert(!fail); }", {.mode = CpuMode::threads});
  const Kernel kernel = module.kernel("k");
  Stream failed = device.create_stream(), sound = device.create_stream();
  const auto text_of_launch = [&](Stream& stream, int fail) -> std::string {
    try {
      kernel.launch(stream, {.grid = {4}, .block = {33}}, fail);
      stream.synchronize();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(text_of_launch(failed, 0), "");
  const std::string first = text_of_launch(failed, 1);
  EXPECT_NE(first.find("assertion '!fail' failed"), std::string::npos) << first;
  EXPECT_EQ(text_of_launch(failed, 0), first);
  EXPECT_THROW(failed.synchronize(), Error);
  EXPECT_EQ(text_of_launch(sound, 0), "");
}

TEST(KernelFailures, ManyLaunchesAfterFailuresAreSound) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __global__ void k(int* out, int fail) {
        __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
        if (fail && threadIdx.x == 40) __trap();
        __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; })",
                                        {.mode = CpuMode::threads});
  const Kernel kernel = module.kernel("k");
  const Buffer out = device.allocate(64 * sizeof(int));
  for (int i = 0; i < 20; ++i) {
    Stream stream = device.create_stream();
    EXPECT_THROW(kernel.launch(stream, {.grid = {3}, .block = {64}}, static_cast<int*>(out.data()), 1), Error);
    Stream fresh = device.create_stream();
    kernel.launch(fresh, {.block = {64}}, static_cast<int*>(out.data()), 0);
    for (int t = 0; t < 64; ++t) EXPECT_EQ(static_cast<int*>(out.data())[t], 63 - t);
  }
}

TEST(KernelFailures, GridsThatCannotMeet) {
  const std::string text = failure(kThreads, R"(
      #include <cooperative_groups.h>
      __global__ void k(int* out) {
        if (blockIdx.x == 1 && threadIdx.x < 2) __barrier_sync_count(3, 64);
        cooperative_groups::this_grid().sync(); })",
                                   {{3}, {4}}, true);
  EXPECT_NE(text.find("block (0,0,0): thread (0,0,0) to (3,0,0): grid sync at kernel.cu:5"), std::string::npos) << text;
  EXPECT_NE(text.find("block (1,0,0): thread (0,0,0) to (1,0,0): barrier 3"), std::string::npos) << text;
}

std::string launch_error(const Kernel& kernel, Stream& stream, const LaunchShape& shape) {
  try {
    kernel.launch(stream, shape, static_cast<int*>(nullptr));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(KernelFailures, ShapesThatCannotBe) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __global__ void k(int* out) { __shared__ int s[1000]; s[threadIdx.x] = 1; if (out) out[0] = s[0]; }
      __global__ void __launch_bounds__(64) small(int* out) {})",
                                        {.mode = CpuMode::threads});
  const Kernel kernel = module.kernel("k");
  EXPECT_EQ(kernel.properties().static_shared_bytes, 4000u);
  EXPECT_EQ(kernel.properties().parameter_bytes, std::vector<uint32_t>{8});
  Stream stream = device.create_stream();
  const auto says = [&](const Kernel& k, const LaunchShape& shape, const char* part) {
    const std::string text = launch_error(k, stream, shape);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(kernel, {.block = {1025}}, "1 to 1024");
  says(kernel, {.block = {1, 1, 65}}, "1024 x 1024 x 64");
  says(kernel, {.grid = {0}}, "a grid of 0 x 1 x 1");
  says(kernel, {.grid = {1, 65536}}, "65535");
  says(module.kernel("small"), {.block = {65}}, "1 to 64");
  says(kernel, {.block = {32}, .shared_bytes = 230'000}, "a block has 232448");
  says(kernel, {.grid = {64}, .block = {512}, .cooperative = true}, "room for 16384 threads");
  kernel.launch(stream, {.block = {1024}}, static_cast<int*>(nullptr));  // the stream is sound still
  EXPECT_THROW(kernel.launch(stream, {}, 1.0f), Error);
  EXPECT_THROW(kernel.launch(stream, {}), Error);
}

std::string compile_failure(const char* source) {
  const Device device = Device::open("cpu");
  try {
    const Module module = Module::compile(device, source, {.mode = CpuMode::threads});
    Stream stream = device.create_stream();
    module.kernel("k").launch(stream, {}, static_cast<int*>(nullptr));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(KernelFailures, WhatTheCpuLacksIsNamed) {
  const auto says = [](const char* source, const char* part) {
    const std::string text = compile_failure(source);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says("__global__ void k(int* out) { asm volatile(\"strange.op %0;\" :: \"r\"(3)); }", "inline PTX 'strange.op'");
  says("__global__ void k(int* out) { asm(\"add.u32 %0, 1, %%laneid;\" : \"=r\"(*out)); }",
       "inline PTX 'add.u32 of %laneid'; special registers are read by mov and cvt");
  says("__global__ void k(int* out) { *out = __nvvm_read_ptx_sreg_pm0(); }", "intrinsic 'llvm.nvvm.read.ptx.sreg.pm0'");
  says("__device__ int gone(int); __global__ void k(int* out) { if (out) *out = gone(1); }",
       "function 'gone(int)' is declared");
}

TEST(KernelFailuresDeathTest, FaultsOfTheRuntimeNameTheKernel) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      failure(kThreads, "__global__ void k(int* out) { if (threadIdx.x == 3) printf(\"%s\", (char*)64); }", {{1}, {8}}),
      "kernel 'k\\(int\\*\\)', block \\(0,0,0\\), thread 3 of the block: signal 11");
}

TEST(KernelPrintf, EveryConversion) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(device, R"(
      __global__ void k(const char* unused) {
        if (threadIdx.x == 1) {
          int n = printf("%d|%5i|%-4u|%x|%#o|%c|%s|%%|%p\n", -3, 42, 7u, 255, 8, 'z', "text", (void*)16);
          printf("%.3f %e %g %10.2f %*d %lld %llu %hhd %hd %zu n=%d\n", 1.5, 12345.678, 0.1f, -2.25, 6, 99, -(1ll << 40), ~0ull, 257, 65537, sizeof(int), n);
        }
        __syncthreads();
        if (threadIdx.x == 2) { printf("%d, ", 1); printf("rest\n"); printf("no arguments"); }
      })",
                                        {.mode = CpuMode::threads});
  Stream stream = device.create_stream();
  testing::internal::CaptureStdout();
  module.kernel("k").launch(stream, {.block = {3}}, static_cast<const char*>(nullptr));
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "-3|   42|7   |ff|010|z|text|%|0x10\n"
            "1.500 1.234568e+04 0.1      -2.25     99 -1099511627776 18446744073709551615 1 1 4 n=8\n"
            "1, rest\nno arguments");
}

TEST(KernelPrintf, LinesOfThreadsStayWhole) {
  const Device device = Device::open("cpu");
  const Module module = Module::compile(
      device, "__global__ void k(int) { printf(\"%d:%d\\n\", blockIdx.x, threadIdx.x); }", {.mode = CpuMode::threads});
  Stream stream = device.create_stream();
  testing::internal::CaptureStdout();
  module.kernel("k").launch(stream, {.grid = {8}, .block = {40}}, 0);
  const std::string text = testing::internal::GetCapturedStdout();
  for (int b = 0; b < 8; ++b)
    for (int t = 0; t < 40; ++t) {
      const std::string line = std::to_string(b) + ":" + std::to_string(t) + "\n";
      EXPECT_NE(("\n" + text).find("\n" + line), std::string::npos) << line;
    }
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 320);
}

TEST(KernelFailures, EndBlocksThatWaitForThem) {
  const Device device = Device::open("cpu");
  for (const CpuMode mode : {CpuMode::lanes, CpuMode::threads}) {
    const Module module = Module::compile(device, R"(
        __global__ void k(int* flag) {
          if (blockIdx.x == 0 && threadIdx.x == 0) __trap();
          if (blockIdx.x > 0 && threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) ; })",
                                          {.mode = mode});
    const Buffer flag = device.allocate(sizeof(int));
    *static_cast<int*>(flag.data()) = 0;
    for (int i = 0; i < 20; ++i) {
      Stream stream = device.create_stream();
      try {
        module.kernel("k").launch(stream, {.grid = {8}, .block = {32}}, static_cast<int*>(flag.data()));
        FAIL() << "no error";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("block (0,0,0), thread (0,0,0): trap"), std::string::npos)
            << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace trine::compute
