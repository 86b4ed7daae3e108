// Number formats: bf16 on demand, and models that come in f16 or bf16 run by kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model_of.h"
#include "trine/engine/session.h"

namespace trine {
namespace {

Tensor random_tensor(DType type, Dims dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = normal(random);
  return Tensor::from_f64(type, std::move(dims), values);
}

struct Distance {
  double error = 0, largest = 0;
};

Distance distance(const Tensor& got, const Tensor& want) {
  Distance d;
  EXPECT_EQ(got.type_text(), want.type_text());
  const auto a = got.f64_values(), b = want.f64_values();
  for (size_t i = 0; i < b.size(); ++i) {
    EXPECT_TRUE(std::isfinite(a[i])) << i;
    d.error = std::max(d.error, std::fabs(a[i] - b[i]));
    d.largest = std::max(d.largest, std::fabs(b[i]));
  }
  return d;
}

size_t count(const std::string& text, std::string_view word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// Convolutions that read each other, a residual, a depthwise one, and something elementwise in between.
constexpr const char* kResidual = R"(graph(%x: f32[2,16,12,12]) {
  %w1 = const f32[24,16,1,1] random(1)
  %b1 = const f32[24] random(2)
  %w2 = const f32[24,24,3,3] random(3)
  %w3 = const f32[24,1,3,3] random(4)
  %w4 = const f32[10,24] random(5)
  %flat = const i64[2]{0,-1}
  %a = conv %x %w1 %b1
  %b = relu %a
  %c = conv %b %w2 {pads=[1,1,1,1]}
  %d = add %c %b
  %e = relu %d
  %f = conv %e %w3 {group=24, pads=[1,1,1,1]}
  %g = sigmoid %f
  %h = mul %g %f
  %i = global_average_pool %h
  %j = reshape %i %flat
  %y = gemm %j %w4 {transB=1}
  return %y
})";

TEST(Precision, Bf16RoundsOperandsOfProductsAndNothingElse) {
  const Model model = model_of(kResidual);
  const Tensor x = random_tensor(DType::f32, {2, 16, 12, 12}, 7);
  const Tensor want = model.evaluate({x})[0].tensor();
  for (bool code : {false, true}) {
    const Engine engine =
        build(model, {.threads = 1, .verify = Verify::full, .precision = Precision::bf16, .code = code});
    for (const std::string& note : engine.notes()) EXPECT_EQ(note.find("dropped"), std::string::npos) << note;
    const std::string graph = engine.graph_text();
    EXPECT_EQ(count(graph, "= conv "), 3u) << graph;
    EXPECT_EQ(count(graph, "const bf16[24,16,1,1]") + count(graph, "const bf16[24,24,3,3]") +
                  count(graph, "const bf16[24,1,3,3]"),
              3u)
        << graph;
    EXPECT_NE(graph.find("f32[24] = const"), std::string::npos) << "the bias is not rounded\n" << graph;

    const Distance d = distance(Session(engine, {.threads = 1}).run({Datum(x)})[0].tensor(), want);
    EXPECT_LT(d.error, 4 * 0x1p-8 * d.largest);  // four products in a row
    EXPECT_GT(d.error, 0x1p-14 * d.largest) << "nothing was rounded to bf16";
  }
}

TEST(Precision, Fp32IsNotRounded) {
  const Model model = model_of(kResidual);
  const Tensor x = random_tensor(DType::f32, {2, 16, 12, 12}, 8);
  const Engine engine = build(model, {.threads = 1, .verify = Verify::full});
  EXPECT_EQ(engine.graph_text().find("bf16"), std::string::npos);
  const Distance d =
      distance(Session(engine, {.threads = 1}).run({Datum(x)})[0].tensor(), model.evaluate({x})[0].tensor());
  EXPECT_LT(d.error, 0x1p-18 * d.largest);
}

constexpr const char* kHalves = R"(graph(%x: TYPE[2,3,9,9], %s: TYPE[4,3,5], %q: TYPE[1,2,6,8]) {
  %w = const TYPE[8,3,3,3] random(1)
  %b = const TYPE[8] random(2)
  %v = const TYPE[5,7] random(3)
  %c = const TYPE[7] random(4)
  %wi = const TYPE[1,16,5] random(5)
  %wr = const TYPE[1,16,4] random(6)
  %a = conv %x %w %b
  %p = max_pool %a {kernel_shape=[2,2]}
  %g = global_average_pool %p
  %m = matmul %s %v
  %n = add %m %c
  %h, %hn, %cn = lstm %s %wi %wr {hidden_size=4}
  %o = sdpa %q %q %q
  return %g, %n, %h, %o
})";

TEST(Precision, ModelsOfHalvesRunByKernels) {
  for (const char* name : {"f16", "bf16"}) {
    std::string text = kHalves;
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, name);
    const DType type = *dtype_from_name(name);
    const Model model = model_of(text);
    const std::vector<Datum> in = {random_tensor(type, {2, 3, 9, 9}, 1), random_tensor(type, {4, 3, 5}, 2),
                                   random_tensor(type, {1, 2, 6, 8}, 3)};
    const Engine engine = build(model, {.threads = 1, .verify = Verify::full});
    for (const std::string& note : engine.notes()) {
      EXPECT_EQ(note.find("references, slowly"), std::string::npos) << note << engine.plan_text();
      EXPECT_EQ(note.find("dropped"), std::string::npos) << note;
    }
    const auto want = model.evaluate(in), got = Session(engine, {.threads = 1}).run(in);
    for (size_t i = 0; i < want.size(); ++i) {
      const Distance d = distance(got[i].tensor(), want[i].tensor());
      EXPECT_LT(d.error, 4 * (type == DType::f16 ? 0x1p-11 : 0x1p-8) * d.largest) << name << " output " << i;
    }
  }
}

}  // namespace
}  // namespace trine
