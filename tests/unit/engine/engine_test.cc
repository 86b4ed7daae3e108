#include "trine/engine/engine.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/container.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "network.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

using test::kNetwork;
using test::random_tensor;

Engine engine_of(const std::string& text, const dnn::Limits& limits = {}) {
  auto state = std::make_shared<Engine::State>();
  auto graph = std::make_shared<Graph>(Graph::parse(text));
  infer_shapes(*graph);
  state->graph = graph;
  auto plan = make_plan(graph, limits);
  EXPECT_EQ(choose_rows(*plan, representative_inputs(*graph)), "");
  state->plan = plan;
  state->metadata = {{"author", "test"}};
  set_io(*state);
  return Engine(std::move(state));
}

void expect_near(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.dims(), want.dims());
  const auto x = got.f64_values(), y = want.f64_values();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-5 * (1 + std::abs(y[i]))) << i;
}

TEST(Engine, RunsLikeTheReferenceForEveryBatch) {
  const Engine engine = engine_of(kNetwork);
  Session session(engine, {.threads = 2});
  for (int64_t n : {1, 2, 7, 1}) {
    const Tensor x = random_tensor({n, 8, 8, 3}, static_cast<unsigned>(n));
    expect_near(session.run({Datum(x)})[0].tensor(), evaluate(*engine.state()->graph, {x})[0].tensor());
  }
}

TEST(Engine, ARunWithoutElementsFollowsOneWithThem) {
  const Engine engine = engine_of(kNetwork);
  Session session(engine, {.threads = 1});
  for (int64_t n : {3, 0, 0, 2, 0}) {
    const Tensor x = random_tensor({n, 8, 8, 3}, 1);
    EXPECT_EQ(session.run({Datum(x)})[0].tensor().dims(), (Dims{n, 10}));
  }
}

// Kernels size their scratch memory by the number of threads: it is the session's that counts, not the build's.
TEST(Engine, ASessionMayHaveOtherThreadsThanTheBuild) {
  constexpr const char* kConvolutions = R"(graph(%x: f32[1,29,31,48]) {
    %w: f32[48,48,3,3] = const f32[48,48,3,3] random(1)
    %v: f32[40,48,1,1] = const f32[40,48,1,1] random(2)
    %c: f32[1,29,31,48] = conv %x %w {layout="nhwc", pads=[1,1,1,1], activation="relu"}
    %y: f32[1,29,31,40] = conv %c %v {layout="nhwc"}
    return %y
  })";
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Tensor x = random_tensor({1, 29, 31, 48}, seed);
  for (int built_for : {1, 2, 8}) {
    const Engine engine = engine_of(kConvolutions, {.threads = built_for});
    const Tensor want = Session(engine, {.threads = 1}).run({Datum(x)})[0].tensor().clone();
    for (int threads : {2, 3, 8, 13}) {
      const Tensor got = Session(engine, {.threads = threads}).run({Datum(x)})[0].tensor();
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << built_for << " and " << threads << " threads";
    }
  }
}

TEST(Engine, AFileRoundTripGivesTheSameBytesAndResults) {
  const Engine engine = engine_of(kNetwork);
  const std::vector<uint8_t> bytes = engine.to_bytes();
  EXPECT_EQ(engine_of(kNetwork).to_bytes(), bytes);
  const Engine again = Engine::from_bytes(bytes.data(), bytes.size());
  EXPECT_FALSE(again.replanned());
  EXPECT_EQ(again.to_bytes(), bytes);
  EXPECT_EQ(again.graph_text(), engine.graph_text());
  EXPECT_EQ(again.metadata().at("author"), "test");
  const Tensor x = random_tensor({2, 8, 8, 3}, 5);
  const Datum a = Session(engine, {.threads = 1}).run({Datum(x)})[0],
              b = Session(again, {.threads = 1}).run({Datum(x)})[0];
  EXPECT_EQ(std::memcmp(a.tensor().data(), b.tensor().data(), a.tensor().bytes()), 0);
}

TEST(Engine, ReplansForALesserMachine) {
  const Engine engine = engine_of(kNetwork);
  const std::vector<uint8_t> bytes = engine.to_bytes();
  const Tensor x = random_tensor({3, 8, 8, 3}, 9);
  const Datum want = Session(engine, {.threads = 1}).run({Datum(x)})[0];
  limit_cpu_level(CpuLevel::baseline);
  const Engine lesser = Engine::from_bytes(bytes.data(), bytes.size());
  const Datum got = Session(lesser, {.threads = 1}).run({Datum(x)})[0];
  limit_cpu_level(std::nullopt);
  EXPECT_EQ(lesser.replanned(), cpu_level() > CpuLevel::baseline);
  expect_near(got.tensor(), want.tensor());
}

TEST(Engine, EveryFlippedBitIsFound) {
  const std::vector<uint8_t> bytes = engine_of(kNetwork).to_bytes();
  std::mt19937 random(3);
  for (size_t at = 0; at < bytes.size(); at += at < 256 ? 1 : 1 + random() % 97) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= static_cast<uint8_t>(1u << (random() % 8));
    try {
      Engine::from_bytes(damaged.data(), damaged.size());
      // Padding between sections is covered by no checksum, and read by nobody.
      EXPECT_EQ(bytes[at], 0) << "byte " << at;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_engine) << e.what();
    }
  }
}

TEST(Engine, EveryTruncationIsFound) {
  const std::vector<uint8_t> bytes = engine_of(kNetwork).to_bytes();
  for (size_t size = 0; size < bytes.size(); size += size < 128 ? 1 : 61)
    EXPECT_THROW(Engine::from_bytes(bytes.data(), size), Error) << size;
}

TEST(Session, WrongInputsAreNamed) {
  Session session(engine_of(kNetwork), {.threads = 1});
  const auto message = [&](const std::map<std::string, Datum>& inputs) {
    try {
      session.run(inputs);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const Tensor good = random_tensor({1, 8, 8, 3}, 1);
  EXPECT_EQ(message({}), "run: input 'x' (f32[N,8,8,3]) is not given; inputs are x");
  EXPECT_EQ(message({{"x", good}, {"z", good}}), "run: no input 'z'; inputs are x");
  EXPECT_NE(message({{"x", random_tensor({1, 8, 8, 4}, 1)}}).find("dimension 3 is 4"), std::string::npos);
  EXPECT_NE(message({{"x", random_tensor({8, 8, 3}, 1)}}).find("expected f32[N,8,8,3]"), std::string::npos);
  EXPECT_NE(message({{"x", Tensor::from_f64(DType::f64, {1, 8, 8, 3}, std::vector<double>(192, 1.0))}}).find("f64"),
            std::string::npos);
}

TEST(Session, AnEmptyBatchMayFollowAnother) {
  Session session(engine_of(kNetwork), {.threads = 1});
  for (int64_t n : {2, 0, 1, 0}) {
    const Tensor y = session.run({Datum(random_tensor({n, 8, 8, 3}, 7))})[0].tensor();
    EXPECT_EQ(y.dims(), (Dims{n, 10}));
  }
}

TEST(Session, OutputsBelongToTheCaller) {
  Session session(engine_of(kNetwork), {.threads = 1});
  const Datum first = session.run({Datum(random_tensor({1, 8, 8, 3}, 1))})[0];
  const std::vector<double> before = first.tensor().f64_values();
  session.run({Datum(random_tensor({1, 8, 8, 3}, 2))});
  EXPECT_EQ(first.tensor().f64_values(), before);
}

TEST(Session, ProfileSeesEveryStep) {
  Session session(engine_of(kNetwork), {.threads = 1});
  std::vector<StepTime> steps;
  session.profile({Datum(random_tensor({1, 8, 8, 3}, 1))}, steps);
  ASSERT_EQ(steps.size(), 4u);  // the squeeze is a view
  EXPECT_GT(steps[0].flops, 0);
  for (const StepTime& s : steps) EXPECT_GT(s.seconds, 0);
}

}  // namespace
}  // namespace trine
