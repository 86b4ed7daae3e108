// What --timing-cache, --workspace, --max-mem and --deterministic promise.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/memory.h"
#include "engine/build/kernels.h"
#include "engine/engine_state.h"
#include "model_of.h"
#include "plan/prepare.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

// Three convolutions for which Winograd is fastest, a matrix product, a softmax.
Model network() {
  return model_of(R"(graph(%x: f32[1,128,28,28]) {
    %a: f32[128,128,3,3] = const f32[128,128,3,3] random(1)
    %b: f32[128,128,3,3] = const f32[128,128,3,3] random(2)
    %c: f32[128,128,3,3] = const f32[128,128,3,3] random(3)
    %d: f32[784,50] = const f32[784,50] random(4)
    %shape: i64[2] = const i64[2]{128,784}
    %p: f32[1,128,28,28] = conv %x %a {pads=[1,1,1,1]}
    %q: f32[1,128,28,28] = conv %p %b {pads=[1,1,1,1]}
    %r: f32[1,128,28,28] = conv %q %c {pads=[1,1,1,1]}
    %s: f32[128,784] = reshape %r %shape
    %t: f32[128,50] = matmul %s %d
    %y: f32[128,50] = softmax %t {axis=-1}
    return %y
  })");
}

BuildOptions plain() { return {.threads = 1, .verify = Verify::off, .code = false}; }

Tensor picture() {
  std::vector<double> values(128 * 28 * 28);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i * i % 1000));
  return Tensor::from_f64(DType::f32, {1, 128, 28, 28}, values);
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool mentions(const Engine& engine, std::string_view word) {
  for (const std::string& note : engine.notes())
    if (note.find(word) != std::string::npos) return true;
  return false;
}

struct TimingCacheFile : testing::Test {
  const std::string path = testing::TempDir() + "trine_timings";
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
  }
};

TEST_F(TimingCacheFile, ASecondBuildMeasuresNothingAndGivesTheSameBytes) {
  BuildOptions options = plain();
  options.timing_cache = path;
  options.budget_seconds = 1000;  // each kernel is timed 30 times at most: a busy machine spends no budget
  const Engine first = build(network(), options);
  EXPECT_TRUE(mentions(first, "timed"));
  const std::string text = read(path);
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 3);
  const Engine second = build(network(), options);
  EXPECT_FALSE(mentions(second, "timed"));
  EXPECT_EQ(read(path), text);
  EXPECT_EQ(first.to_bytes(), second.to_bytes());
  options.budget_seconds = 0;  // the times are used without a budget too
  EXPECT_EQ(build(network(), options).to_bytes(), first.to_bytes());
}

TEST_F(TimingCacheFile, DamagedLinesAreIgnoredWithOneNote) {
  BuildOptions options = plain();
  options.timing_cache = path;
  options.budget_seconds = 1000;  // each kernel is timed 30 times at most: a busy machine spends no budget
  build(network(), options);
  std::ofstream(path, std::ios::app) << "half a li\nne\n";
  const Engine engine = build(network(), options);
  EXPECT_TRUE(mentions(engine, "2 damaged lines are ignored"));
}

TEST_F(TimingCacheFile, AnotherFileIsNotOverwritten) {
  std::ofstream(path) << "my thesis\n";
  BuildOptions options = plain();
  options.timing_cache = path;
  options.budget_seconds = 1;
  EXPECT_THROW(build(network(), options), Error);
  EXPECT_EQ(read(path), "my thesis\n");
}

// Builds that end together: each adds what it measured, and keeps what the others added.
TEST_F(TimingCacheFile, NobodysTimesAreLost) {
  constexpr int kWriters = 8, kTimes = 12;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      for (int t = 0; t < kTimes; ++t) {
        dnn::Timings timings;
        timings.add(dnn::MatmulProblem{.m = w + 1, .n = t + 1, .k = 3}, "row", 1, 1e-3);
        dnn::save_timings(timings, path);
      }
    });
  for (std::thread& writer : writers) writer.join();
  const std::string text = read(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + kWriters * kTimes);
}

TEST(Deterministic, TheSameBitsForAnyNumberOfThreads) {
  Tensor want;
  std::string plan;
  for (int built_for : {1, 2, 5}) {
    BuildOptions options = plain();
    options.deterministic = true;
    options.threads = built_for;
    const Engine engine = build(network(), options);
    const std::vector<uint8_t> file = engine.to_bytes();
    for (int threads : {1, 2, 4, 7}) {
      const Tensor got = Session(Engine::from_bytes(file.data(), file.size()), {.threads = threads})
                             .run({Datum(picture())})[0]
                             .tensor();
      if (!want.defined()) want = got;
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0)
          << "built for " << built_for << ", run with " << threads;
    }
  }
}

TEST(Deterministic, ContradictsMeasuring) {
  BuildOptions options = plain();
  options.deterministic = true;
  options.budget_seconds = 1;
  EXPECT_THROW(build(network(), options), Error);
  options.budget_seconds = 0;
  options.timing_cache = "t";
  EXPECT_THROW(build(network(), options), Error);
}

size_t largest_workspace(const Engine& engine, int threads) {
  const Plan& plan = *engine.state()->plan;
  const auto types = representative_inputs(*plan.graph);
  return prepare(plan, with_input_types(plan, types), nullptr, threads, nullptr)->workspace_bytes;
}

TEST(Workspace, NoKernelTakesMore) {
  const size_t usual = largest_workspace(build(network(), plain()), 1);
  ASSERT_GT(usual, 4096u);
  for (size_t allowed : {usual / 2, usual / 10, size_t{1}}) {
    BuildOptions options = plain();
    options.workspace_bytes = allowed;
    const Engine engine = build(network(), options);
    const std::vector<uint8_t> file = engine.to_bytes();
    const Engine opened = Engine::from_bytes(file.data(), file.size());
    for (int threads : {1, 4}) EXPECT_LE(largest_workspace(opened, threads), allowed);
    const Tensor got = Session(opened, {.threads = 4}).run({Datum(picture())})[0].tensor();
    const Tensor want = Session(build(network(), plain()), {.threads = 1}).run({Datum(picture())})[0].tensor();
    for (int64_t i = 0; i < got.elements(); ++i) ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-3) << i;
  }
}

TEST(MaxMemory, SmallerKernelsAreChosenThenRefused) {
  const EngineMemory usual = build(network(), plain()).memory();
  const Model model = network();
  BuildOptions options = plain();
  options.max_memory_bytes = static_cast<size_t>(memory_in_use()) + usual.weights + usual.activations + (1 << 20);
  EXPECT_FALSE(mentions(build(model, options), "smaller kernels"));
  if (cpu_level() >= CpuLevel::avx2) {
    options.max_memory_bytes = static_cast<size_t>(memory_in_use()) + (usual.weights + usual.activations) * 3 / 4;
    const Engine less = build(model, options);
    EXPECT_TRUE(mentions(less, "smaller kernels"));
    EXPECT_LT(less.memory().weights, usual.weights);
  }
  options.max_memory_bytes = static_cast<size_t>(memory_in_use()) + 1000;
  try {
    build(model, options);
    ADD_FAILURE() << "a build without memory";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
  }
  EXPECT_NO_THROW(build(model, plain())) << "the limit ends with the build";
}

}  // namespace
}  // namespace trine
