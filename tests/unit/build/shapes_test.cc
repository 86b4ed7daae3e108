// What BuildOptions::shapes promises: ranges travel with the engine, are kept to, and say what is likely.
#include <gtest/gtest.h>

#include "model_of.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

constexpr const char* kProduct = R"(graph(%x: f32[N,64]) {
  %w: f32[64,16] = const f32[64,16] random(1)
  %y = matmul %x %w
  return %y
})";

Engine bounded() {
  const Model model = model_of(kProduct, {{"author", "test"}, {"trine.range.N", "not ours"}});
  return build(model, {.shapes = {{"x", {"2..8..32", "64"}}}, .threads = 1, .code = false});
}

Engine reopened(const Engine& engine) {
  const auto bytes = engine.to_bytes();
  return Engine::from_bytes(bytes.data(), bytes.size());
}

std::string message_of(const Engine& engine, const Dims& dims) {
  try {
    const std::vector<double> values(static_cast<size_t>(element_count(dims)), 0.5);
    Session(engine, {.threads = 1}).run({Datum(Tensor::from_f64(DType::f32, dims, values))});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return "no error";
}

TEST(Ranges, AreKeptToBeforeAndAfterSaving) {
  const Engine made = bounded();
  for (const Engine& engine : {made, reopened(made)}) {
    EXPECT_EQ(engine.metadata().at("trine.range.N"), "2..8..32");
    EXPECT_EQ(engine.metadata().at("author"), "test");
    for (const int64_t n : {2, 8, 32}) EXPECT_EQ(message_of(engine, {n, 64}), "no error") << n;
    for (const int64_t n : {1, 33}) {
      EXPECT_EQ(message_of(engine, {n, 64}),
                "input 'x': got f32[" + std::to_string(n) + ",64], N is " + std::to_string(n) +
                    "; the engine was built for N from 2 to 32: build it again with another range");
    }
  }
}

TEST(Ranges, TheLikelySizeIsThePlans) {
  const Engine engine = reopened(bounded());
  EXPECT_NE(engine.plan_text().find("f32[8,16]"), std::string::npos) << engine.plan_text();
  EXPECT_NE(engine.plan_text({{"N", 5}}).find("f32[5,16]"), std::string::npos);
}

TEST(Ranges, AModelWithoutThemTakesAnySize) {
  const Engine engine = build(model_of(kProduct, {{"trine.range.N", "2..2..2"}}), {.threads = 1, .code = false});
  EXPECT_EQ(message_of(engine, {77, 64}), "no error");
  EXPECT_FALSE(engine.metadata().contains("trine.range.N"));
}

TEST(Shapes, SizesThatAModelCannotTakeAreTheCallersMistakeAndNamed) {
  const Model model = model_of(R"(graph(%x: f32[1,H]) {
    %shape: i64[2] = const i64[2]{-1,4}
    %a = reshape %x %shape
    %w: f32[3,5] = const f32[3,5] random(1)
    %axes: i64[1] = const i64[1]{0}
    %b = transpose %a {perm=[1,0]}
    %s = matmul %b %w
    return %s
  })");
  const Engine engine = build(model, {.threads = 1, .code = false});
  EXPECT_EQ(message_of(engine, {1, 12}), "no error");
  const std::string message = message_of(engine, {1, 20});
  EXPECT_EQ(message.find("input 'x': f32[1,20] for f32[1,H]; the model takes other sizes: "), 0u) << message;
}

TEST(Notes, SayHowManyStepsOfAFloatTypeHaveNoKernel) {
  const Model model = model_of(R"(graph(%x: f64[2,8]) {
    %w: f64[8,4] = const f64[8,4] random(1)
    %y = matmul %x %w
    return %y
  })");
  const Engine engine = build(model, {.threads = 1, .code = false});
  bool said = false;
  for (const std::string& note : engine.notes())
    said =
        said ||
        note == "slow steps: 1 of f64; there are no fast kernels for these number formats, export the model as float32";
  EXPECT_EQ(said, engine.plan_text().find("host") != std::string::npos) << engine.plan_text();
}

}  // namespace
}  // namespace trine
