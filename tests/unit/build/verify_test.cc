// A wrong kernel must not reach a user: planted rows and damaged loops are found, dropped and reported.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/build/compare.h"
#include "engine/build/noise.h"
#include "engine/engine_state.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "model_of.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

constexpr const char* kModel = R"(graph(%x: f32[2,3,9,9]) {
  %w: f32[5,3,3,3] = const f32[5,3,3,3] random(1)
  %b: f32[5] = const f32[5] random(2)
  %c: f32[2,5,7,7] = conv %x %w %b
  %y: f32[2,5,7,7] = relu %c
  return %y
})";

const char* fits_all(const dnn::Problem&) { return nullptr; }
double cost_nothing(const dnn::Problem&, int) { return 1e-12; }

// Right everywhere but in the last element.
void almost_right(const dnn::Problem& problem, const dnn::Args& args) {
  const dnn::KernelRow* good = nullptr;
  for (const dnn::KernelRow* row : dnn::rows_of(dnn::OpKind::conv))
    if (row->name != "conv_planted" && dnn::runs_here(*row) && row->packed_bytes && !row->fits(problem)) good = row;
  ASSERT_NE(good, nullptr);
  good->run(problem, args);
  const auto& p = std::get<dnn::ConvProblem>(problem);
  const int64_t count = p.n * p.out[0] * p.out[1] * p.out[2] * p.out_channels;
  static_cast<float*>(args.out[0])[count - 1] += 0.5f;
}

// A row that claims to be the cheapest and takes the packing of the last good row that fits.
dnn::KernelRow planted_like(const dnn::Problem& problem) {
  dnn::KernelRow planted;
  for (const dnn::KernelRow* row : dnn::rows_of(dnn::OpKind::conv))
    if (dnn::runs_here(*row) && row->packed_bytes && !row->fits(problem)) planted = *row;
  planted.name = "conv_planted";
  planted.fits = fits_all;
  planted.cost = cost_nothing;
  planted.run = almost_right;
  return planted;
}

dnn::ConvProblem problem_of_model() {
  dnn::ConvProblem p;
  p.n = 2;
  p.in_channels = 3;
  p.out_channels = 5;
  p.in = {1, 9, 9};
  p.out = {1, 7, 7};
  p.kernel = {1, 3, 3};
  p.epilogue.bias = true;
  p.epilogue.activation = dnn::Activation::relu;
  return p;
}

bool mentions(const Engine& engine, std::string_view word) {
  for (const std::string& note : engine.notes())
    if (note.find(word) != std::string::npos) return true;
  return false;
}

TEST(Verify, DropsAPlantedWrongRowAndSaysSo) {
  const dnn::KernelRow planted = planted_like(problem_of_model());
  const dnn::ScopedRow scope(planted);
  const Model model = model_of(kModel);

  const Engine trusting = build(model, {.threads = 1, .verify = Verify::off, .code = false});
  EXPECT_NE(trusting.plan_text().find("conv_planted"), std::string::npos) << "the planted row was never chosen";

  for (Verify level : {Verify::fast, Verify::full}) {
    const Engine checked = build(model, {.threads = 1, .verify = level, .code = false});
    EXPECT_EQ(checked.plan_text().find("conv_planted"), std::string::npos);
    EXPECT_TRUE(mentions(checked, "conv_planted is not used, its result was wrong"));
    std::vector<double> values(2 * 3 * 9 * 9);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
    const Tensor x = Tensor::from_f64(DType::f32, {2, 3, 9, 9}, values);
    const Tensor got = Session(checked, {.threads = 1}).run({Datum(x)})[0].tensor(),
                 want = model.evaluate({x})[0].tensor();
    const auto a = got.f64_values(), b = want.f64_values();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
  }
}

// The convolution reads its image plane by plane, as the graph's input comes.
TEST(Verify, KeepsEveryRightKernel) {
  for (Verify level : {Verify::fast, Verify::full}) {
    const Engine engine = build(model_of(kModel), {.threads = 1, .verify = level, .code = false});
    EXPECT_FALSE(mentions(engine, "is not used"));
    EXPECT_TRUE(mentions(engine, "checked: 2 of 2 steps give what the definitions of the operators give"));
  }
}

// What attention makes of a mask.
TEST(Verify, KeepsProductsWithInfiniteResiduals) {
  const Model model = model_of(R"(graph(%a: f32[300,400], %c: f32[300,200]) {
  %b = const f32[400,200] random(1)
  %zero = const f32[]{0}
  %m = matmul %a %b
  %z = mul %c %zero
  %l = log %z
  %y = add %m %l
  return %y
})");
  for (Verify level : {Verify::fast, Verify::full})
    EXPECT_FALSE(mentions(build(model, {.threads = 1, .verify = level, .code = false}), "dropped"));
}

// A variance as E[x^2] - E[x]^2 of numbers far from 0 is small and carries the rounding of the large terms: no kernel's
// fault. (A model that tells file types has two of these.)
constexpr const char* kCancelling = R"(graph(%x: f32[64,512]) {
  %far: f32[] = const f32[]{8}
  %axis: i64[1] = const i64[1]{1}
  %scale: f32[] = const f32[]{0.01}
  %s: f32[64,512] = mul %x %scale
  %z: f32[64,512] = add %s %far
  %q: f32[64,512] = mul %z %z
  %a: f32[64,1] = reduce_mean %q %axis
  %m: f32[64,1] = reduce_mean %z %axis
  %b: f32[64,1] = mul %m %m
  %y: f32[64,1] = sub %a %b
  return %y
})";

TEST(Verify, KeepsLoopsInWhichLargeTermsCancel) {
  const Model model = model_of(kCancelling);
  for (Verify level : {Verify::fast, Verify::full})
    for (bool code : {false, true}) {
      const Engine engine = build(model, {.threads = 1, .verify = level, .code = code});
      EXPECT_FALSE(mentions(engine, "is not used"));
      EXPECT_FALSE(mentions(engine, "warning"));
    }
}

TEST(Noise, IsThatOfTheTermsAndNoneWhereTheGraphJumps) {
  const auto noise = [](const char* text, const std::vector<double>& x) {
    const Graph g = Graph::parse(text);
    const std::vector<Datum> in = {Tensor::from_f64(DType::f32, {static_cast<int64_t>(x.size())}, x)};
    return rounding_noise(g, in, evaluate(g, in))[0];
  };
  const char* cancels = R"(graph(%x: f32[4]) {
    %far: f32[] = const f32[]{1000}
    %a = add %x %far
    %y = sub %a %far
    return %y
  })";
  EXPECT_GT(noise(cancels, {0, 1, 2, 3}), 1000 * 0x1p-24);
  EXPECT_LT(noise(cancels, {0, 1, 2, 3}), 1000 * 0x1p-21);
  EXPECT_LT(noise("graph(%x: f32[4]) {\n %y = relu %x\n return %y\n}", {0, 1, 2, 3}), 3 * 0x1p-21);
  EXPECT_EQ(noise("graph(%x: f32[4]) {\n %a = floor %x\n %y = neg %a\n return %y\n}", {0, 1, 2, 3}), 0);
}

// The cancellation excuses rounding, not a wrong answer.
TEST(Noise, DoesNotCoverAWrongAnswer) {
  const Graph g = Graph::parse(kCancelling);
  std::vector<double> x(64 * 512);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  const std::vector<Datum> in = {Tensor::from_f64(DType::f32, {64, 512}, x)}, want = evaluate(g, in);
  const double noise = rounding_noise(g, in, want)[0];
  std::vector<double> wrong = want[0].tensor().f64_values();
  wrong[63] += 0.01;  // the terms are 64
  const Tensor got = Tensor::from_f64(DType::f32, {64, 1}, wrong);
  EXPECT_TRUE(compare_all(want[0].tensor(), want[0].tensor(), 1, noise).ok);
  EXPECT_FALSE(compare_all(got, want[0].tensor(), 1, noise).ok) << "noise " << noise;
}

TEST(Build, TheSameBuildTwiceGivesTheSameBytes) {
  const Model model = model_of(kModel);
  EXPECT_EQ(build(model, {.threads = 2}).to_bytes(), build(model, {.threads = 2}).to_bytes());
}

TEST(Build, ShapesFixAndBoundInputs) {
  const Model model = model_of(R"(graph(%x: f32[N,4], %z: f32[N,4]) {
    %y: f32[N,4] = add %x %z
    return %y
  })");
  EXPECT_EQ(build(model, {.shapes = {{"x", {"3", "4"}}}}).inputs()[1].type.text(), "f32[3,4]");
  EXPECT_EQ(build(model, {.shapes = {{"x", {"1..4..32", "4"}}}}).inputs()[0].type.text(), "f32[N,4]");
  EXPECT_THROW(build(model, {.shapes = {{"nope", {"1"}}}}), Error);
  EXPECT_THROW(build(model, {.shapes = {{"x", {"3", "5"}}}}), Error);
  EXPECT_THROW(build(model, {.shapes = {{"x", {"4..1", "4"}}}}), Error);
}

}  // namespace
}  // namespace trine
