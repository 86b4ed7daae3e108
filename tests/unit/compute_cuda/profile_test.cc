// The profiler on the backend cuda: times come from pairs of events, and streams do not wait for them.
#include "trine/compute/profile.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "fixture.h"

namespace trine::compute {
namespace {

class CudaProfile : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    define_kernels();
    fake::define("_Z6blocksPi", {8}, [](const fake::Launch&) { std::this_thread::sleep_for(kBody); });
    Profiler::start();
  }
  void TearDown() override { Profiler::stop(); }

  static constexpr std::chrono::milliseconds kBody{2};
  static ProfileRow row_of(const std::string& what, const std::string& name) {
    for (const ProfileRow& row : Profiler::profile().rows)
      if (row.what == what && row.name == name && row.device == "cuda:0") return row;
    return {};
  }
};

std::string trace_of_now() {
  const std::string path = testing::TempDir() + "trine_cuda_trace.json";
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

TEST_F(CudaProfile, KernelsHaveTheTimeOfTheDevice) {
  const Kernel blocks = Module::compile(gpu_, kSource).kernel("blocks");
  Stream first = gpu_.create_stream(), second = gpu_.create_stream();
  void* none = nullptr;
  blocks.launch(first, {}, none);  // the profiler's own stream is there
  const int waits = fake::calls("cuEventSynchronize");
  for (int i = 0; i < 5; ++i) blocks.launch(i % 2 ? first : second, {.grid = {2}, .block = {32}}, none);
  EXPECT_EQ(fake::calls("cuEventSynchronize"), waits) << "nothing is waited for while the program goes on";
  EXPECT_EQ(fake::calls("cuStreamSynchronize"), 0);
  const ProfileRow row = row_of("kernel", "blocks(int*)");
  EXPECT_EQ(row.calls, 6u);
  EXPECT_EQ(row.timed, 6u);
  EXPECT_GE(row.least_s, 0.002 * 0.999);
  EXPECT_GE(row.total_s, 0.012 * 0.999);
  EXPECT_LT(row.total_s, Profiler::profile().seconds);
  const std::string trace = trace_of_now();
  EXPECT_EQ(count(trace, "\"cat\":\"kernel\""), 12u) << "the launches of the host, and the device's slices";
  EXPECT_EQ(count(trace, "\"ph\":\"s\""), 6u);
  EXPECT_EQ(count(trace, "\"ph\":\"f\""), 6u);
  EXPECT_EQ(count(trace, "\"name\":\"stream "), 2u);
  EXPECT_EQ(count(trace, "\"name\":\"cuda:0\""), 1u);
}

TEST_F(CudaProfile, CopiesFillsAndMemory) {
  Stream stream = gpu_.create_stream();
  const std::vector<float> host = random_floats(256);
  std::vector<float> back(256);
  {
    Buffer x = gpu_.allocate(1024), y = stream.allocate(512);
    stream.upload(x, 0, host.data(), 1024);
    stream.copy(y, 0, x, 0, 512);
    stream.fill(y, 0);
    stream.download(back.data(), x, 0, 1024);
    stream.synchronize();
    EXPECT_EQ(row_of("copy", "upload").bytes, 1024);
    EXPECT_EQ(row_of("copy", "copy").bytes, 512);
    EXPECT_EQ(row_of("copy", "download").timed, 1u);
    EXPECT_EQ(row_of("fill", "fill").calls, 1u);
    EXPECT_EQ(row_of("synchronize", "wait").calls, 1u);
    for (const ProfileMemory& memory : Profiler::profile().memory)
      if (memory.device == "cuda:0") {
        EXPECT_EQ(memory.bytes, 1536u);
      }
  }
  EXPECT_EQ(row_of("free", "free").bytes, 1536);
}

TEST_F(CudaProfile, WhatIsCapturedIsNotDone) {
  const Kernel blocks = Module::compile(gpu_, kSource).kernel("blocks");
  Stream stream = gpu_.create_stream();
  void* none = nullptr;
  stream.begin_capture();
  for (int i = 0; i < 3; ++i) blocks.launch(stream, {}, none);
  Graph graph = stream.end_capture();
  EXPECT_EQ(row_of("kernel", "blocks(int*)").calls, 0u);
  EXPECT_EQ(count(trace_of_now(), "\"captured\":true"), 3u);
  for (int i = 0; i < 2; ++i) graph.launch(stream);
  const ProfileRow replay = row_of("graph", "replay");
  EXPECT_EQ(replay.calls, 2u);
  EXPECT_GE(replay.least_s, 0.006 * 0.999) << "the time of three kernels";
  EXPECT_EQ(row_of("kernel", "blocks(int*)").calls, 0u) << "the device launches them";
}

TEST_F(CudaProfile, CompilingTellsOfTheCache) {
  Module::compile(gpu_, kSource, {});
  EXPECT_EQ(row_of("compile", "kernel.cu").calls, 1u);
  EXPECT_EQ(count(trace_of_now(), "\"cache\":\"hit\""), 1u);
}

TEST_F(CudaProfile, EventsAreUsedAgain) {
  const Kernel scale = Module::compile(gpu_, kSource).kernel("scale");
  Stream stream = gpu_.create_stream();
  void* none = nullptr;
  size_t objects = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) scale.launch(stream, {}, none, 1.0f, 0);
    stream.synchronize();
    if (round == 0) objects = fake::objects();
  }
  EXPECT_EQ(fake::objects(), objects);
  EXPECT_EQ(row_of("kernel", "scale(float*, float, int)").timed, 1000u);
}

TEST_F(CudaProfile, ManyLaunchesWithoutAWaitKeepABoundOfEvents) {
  const Kernel scale = Module::compile(gpu_, kSource).kernel("scale");
  Stream stream = gpu_.create_stream();
  void* none = nullptr;
  for (int i = 0; i < 20'000; ++i) scale.launch(stream, {}, none, 1.0f, 0);
  EXPECT_LT(fake::objects(), 2 * 8192u + 64);
  EXPECT_EQ(row_of("kernel", "scale(float*, float, int)").timed, 20'000u);
}

TEST_F(CudaProfile, WhatADeviceDoneForWasGivenIsKeptWithoutTimes) {
  const Module m = Module::compile(gpu_, kSource);
  Stream stream = gpu_.create_stream();
  void* none = nullptr;
  m.kernel("scale").launch(stream, {}, none, 1.0f, 0);
  fake::define("_Z6blocksPi", {8}, [](const fake::Launch&) { fake::lose_context(cuda::kIllegalAddress); });
  m.kernel("blocks").launch(stream, {}, none);
  EXPECT_THROW(stream.synchronize(), Error);
  EXPECT_THROW(m.kernel("scale").launch(stream, {}, none, 1.0f, 0), Error);
  Profiler::stop();
  const ProfileRow scale = row_of("kernel", "scale(float*, float, int)");
  EXPECT_EQ(scale.calls, 2u);
  EXPECT_EQ(scale.failed, 1u);
  EXPECT_EQ(row_of("synchronize", "wait").failed, 1u);
  fake::lose_context(cuda::kSuccess);
}

}  // namespace
}  // namespace trine::compute
