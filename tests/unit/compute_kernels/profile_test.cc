// What the profiler hears of kernels on the CPU.
#include "trine/compute/profile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

constexpr const char* kSource = R"(
__global__ void scale(float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
__global__ void fails(int* x) { if (threadIdx.x == 3) __trap(); }
)";

ProfileRow row_of(const std::string& what, const std::string& name) {
  for (const ProfileRow& row : Profiler::profile().rows)
    if (row.what == what && row.name == name) return row;
  return {};
}

std::string trace_of_now() {
  const std::string path = testing::TempDir() + "trine_kernels_trace_" + std::to_string(getpid()) + ".json";
  Profiler::write(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class KernelProfile : public testing::TestWithParam<CpuMode> {
 protected:
  Device cpu_ = Device::open("cpu");
  Stream stream_ = cpu_.create_stream();
  Module module_ = Module::compile(cpu_, kSource, {.instances = {"twice<float>"}, .mode = GetParam()});
  Buffer x_ = cpu_.allocate(1024 * 4);
};

TEST_P(KernelProfile, CountsLaunchesOfEveryShape) {
  const Kernel scale = module_.kernel("scale");
  Profiler::start();
  uint64_t calls = 0;
  for (const uint32_t n : {0u, 1u, 31u, 32u, 33u, 96u, 256u, 1024u}) {
    scale.launch(stream_, {.grid = {(n + 31) / 32 + 1}, .block = {32}, .shared_bytes = n}, x_.data(), 1.0f, int(n));
    ++calls;
  }
  Profiler::stop();
  const ProfileRow row = row_of("kernel", "scale(float*, float, int)");
  EXPECT_EQ(row.device, "cpu");
  EXPECT_EQ(row.calls, calls);
  EXPECT_EQ(row.timed, calls);
  EXPECT_GT(row.least_s, 0);
  EXPECT_LE(row.most_s, row.total_s);
  EXPECT_EQ(row_of("compile", "scale(float*, float, int)").calls, 1u) << "at the first launch";
  EXPECT_LT(row.total_s, Profiler::profile().seconds);
  const std::string trace = trace_of_now();
  EXPECT_EQ(count(trace, "\"cat\":\"kernel\""), calls);
  EXPECT_EQ(count(trace, "\"compile_us\""), 1u);
  EXPECT_EQ(count(trace, GetParam() == CpuMode::threads ? "\"mode\":\"threads\"" : "\"mode\":\"lanes\""), calls);
  EXPECT_EQ(count(trace, "\"grid\":[33,1,1],\"block\":[32,1,1],\"shared_bytes\":1024"), 1u);
  EXPECT_EQ(count(trace, "\"ph\":\"s\""), calls) << "an arrow from each launch";
  EXPECT_GE(count(trace, "\"ph\":\"f\""), calls) << "to each thread that runs blocks of it";
}

TEST_P(KernelProfile, CompilingIsNoPartOfAKernelsTime) {
  Profiler::start();
  module_.kernel("twice<float>").launch(stream_, {.block = {32}}, x_.data());
  Profiler::stop();
  const ProfileRow compile = row_of("compile", "twice<float>(float*)");
  const ProfileRow run = row_of("kernel", "twice<float>(float*)");
  ASSERT_EQ(compile.calls, 1u) << Profiler::profile().table();
  ASSERT_EQ(run.calls, 1u);
  EXPECT_LT(run.total_s, compile.total_s / 2);  // a microsecond beside milliseconds
}

TEST_P(KernelProfile, RatesAreOfWhatWasDeclared) {
  const Kernel scale = module_.kernel("scale"), twice = module_.kernel("twice<float>");
  Profiler::declare("scale", {.bytes = 800, .flops = 100});
  Profiler::declare("twice", {.flops = 32});
  Profiler::start();
  for (int i = 0; i < 5; ++i) scale.launch(stream_, {.grid = {4}, .block = {32}}, x_.data(), 1.0f, 100);
  {
    const LaunchWork work({.bytes = 80, .flops = 10});
    for (int i = 0; i < 3; ++i) scale.launch(stream_, {.grid = {1}, .block = {32}}, x_.data(), 1.0f, 10);
  }
  twice.launch(stream_, {.block = {32}}, x_.data());
  Profiler::stop();
  const ProfileRow row = row_of("kernel", "scale(float*, float, int)");
  EXPECT_EQ(row.bytes, 5 * 800 + 3 * 80);
  EXPECT_EQ(row.flops, 5 * 100 + 3 * 10);
  EXPECT_DOUBLE_EQ(row.bytes_per_second(), row.bytes / row.total_s);
  EXPECT_DOUBLE_EQ(row.flops_per_second(), row.flops / row.total_s);
  EXPECT_EQ(row_of("kernel", "twice<float>(float*)").flops, 32);
  Profiler::declare("scale", {});
  Profiler::declare("twice", {});
}

TEST_P(KernelProfile, FailuresAreRecordedAndKept) {
  Profiler::start();
  EXPECT_THROW(module_.kernel("fails").launch(stream_, {.block = {32}}, x_.data()), Error);
  EXPECT_THROW(module_.kernel("fails").launch(stream_, {.block = {32}}, x_.data()), Error) << "the stream has failed";
  Profiler::stop();
  const ProfileRow row = row_of("kernel", "fails(int*)");
  EXPECT_EQ(row.calls, 1u) << "the second was not begun";
  EXPECT_EQ(row.failed, 1u);
  EXPECT_NE(Profiler::profile().table().find("failed: 1 calls"), std::string::npos);
}

TEST_P(KernelProfile, GraphsAreReplaysAndTheirKernels) {
  const Kernel scale = module_.kernel("scale");
  Profiler::start();
  stream_.begin_capture();
  for (int i = 0; i < 4; ++i) scale.launch(stream_, {.block = {32}}, x_.data(), 1.0f, 32);
  const Graph graph = stream_.end_capture();
  EXPECT_EQ(row_of("kernel", "scale(float*, float, int)").calls, 0u);
  for (int i = 0; i < 3; ++i) graph.launch(stream_);
  Profiler::stop();
  EXPECT_EQ(row_of("kernel", "scale(float*, float, int)").calls, 12u);
  const ProfileRow replay = row_of("graph", "replay");
  EXPECT_EQ(replay.calls, 3u);
  EXPECT_GE(replay.total_s, row_of("kernel", "scale(float*, float, int)").total_s);
  EXPECT_EQ(count(trace_of_now(), "\"kernels\":4"), 3u);
}

INSTANTIATE_TEST_SUITE_P(Modes, KernelProfile, testing::Values(CpuMode::automatic, CpuMode::threads),
                         [](const auto& info) { return info.param == CpuMode::threads ? "threads" : "automatic"; });

}  // namespace
}  // namespace trine::compute
