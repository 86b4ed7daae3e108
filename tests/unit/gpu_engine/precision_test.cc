// Precisions on devices: halves between kernels, and layers that stay in fp32 because the outputs would be off.
#include <cmath>

#include "../build/model_of.h"
#include "models.h"
#include "trine/base/error.h"
#include "trine/engine/build.h"

namespace trine {
namespace {

using namespace test;

bool says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& n) { return n.find(text) != std::string::npos; });
}

double error_of(const Engine& engine, const Model& model, const std::vector<Datum>& inputs) {
  const auto got = Session(engine, {.threads = 1, .device = device()}).run(inputs), want = model.evaluate(inputs);
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].tensor().type_text(), want[i].tensor().type_text());
    const auto x = got[i].tensor().f64_values(), y = want[i].tensor().f64_values();
    double largest = 0, off = 0;
    for (size_t k = 0; k < y.size(); ++k) {
      EXPECT_TRUE(std::isfinite(x[k])) << k;
      off = std::max(off, std::fabs(x[k] - y[k]));
      largest = std::max(largest, std::fabs(y[k]));
    }
    worst = std::max(worst, off / largest);
  }
  return worst;
}

constexpr const char* kBlock = R"(graph(%x: f32[2,8,6,6]) {
  %w1 = const f32[8,8,3,3] random(1)
  %b1 = const f32[8] random(2)
  %w2 = const f32[8,8,1,1] random(3)
  %w3 = const f32[8,5] random(4)
  %flat = const i64[2]{0,-1}
  %a = conv %x %w1 %b1 {pads=[1,1,1,1]}
  %s = sigmoid %a
  %m = mul %s %a
  %b = conv %m %w2
  %r = add %b %a
  %p = max_pool %r {kernel_shape=[2,2], strides=[2,2]}
  %g = global_average_pool %p
  %f = reshape %g %flat
  %y = matmul %f %w3
  %z = softmax %y
  return %z, %y
})";

TEST(DevicePrecision, HalvesFlowBetweenKernels) {
  const Model model = model_of(kBlock);
  const std::vector<Datum> in = {random_tensor({2, 8, 6, 6}, 3)};
  for (Precision precision : {Precision::fp16, Precision::bf16}) {
    const std::string half = precision == Precision::fp16 ? "f16" : "bf16";
    const Engine engine =
        build(model, {.device = device(), .threads = 1, .verify = Verify::full, .precision = precision});
    EXPECT_NE(engine.graph_text().find("const " + half + "[8,8,3,3]"), std::string::npos) << engine.graph_text();
    const double e = error_of(engine, model, in), unit = precision == Precision::fp16 ? 0x1p-11 : 0x1p-8;
    EXPECT_LT(e, 16 * unit);
    EXPECT_GT(e, unit / 64) << "nothing was rounded";
    EXPECT_TRUE(build_record(engine)->in_fp32.empty());
    EXPECT_EQ(build_record(engine)->options.precision, precision);
  }
}

// The second product cancels: what is left of values near 1000 is small, and their rounding is not.
constexpr const char* kCancels = R"(graph(%x: f32[4,16]) {
  %w1 = const f32[16,16] random(1)
  %thousand = const f32[]{1000}
  %c = const f32[16,2]{1,0,-1,0,0,1,0,-1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}
  %w3 = const f32[2,16] random(3)
  %w4 = const f32[16,4] random(4)
  %a = matmul %x %w1
  %t = tanh %a
  %b = add %t %thousand
  %r = relu %b
  %d = matmul %r %c
  %e = matmul %d %w3
  %f = relu %e
  %y = matmul %f %w4
  return %y
})";

TEST(DevicePrecision, BestKeepsWhatTheErrorNeeds) {
  const Model model = model_of(kCancels);
  const std::vector<Datum> in = {random_tensor({4, 16}, 3)};
  const auto built = [&](Precision precision, double tolerance) {
    return build(model, {.device = device(), .threads = 1, .max_error = tolerance, .precision = precision});
  };
  const Engine loose = built(Precision::best, 0.9), tight = built(Precision::best, 2e-3),
               exact = built(Precision::best, 1e-9);
  EXPECT_TRUE(build_record(loose)->in_fp32.empty());
  EXPECT_EQ(build_record(loose)->half, "f16");
  const BuildRecord record = *build_record(tight);
  EXPECT_FALSE(record.in_fp32.empty());
  EXPECT_LT(record.in_fp32.size(), build_record(exact)->in_fp32.size());
  EXPECT_LE(*record.error, 2e-3);
  EXPECT_LE(error_of(tight, model, in), 4e-3);  // measured on other data
  EXPECT_TRUE(says(tight.notes(), "stay in fp32"));
  for (const auto& [node, why] : record.in_fp32) EXPECT_NE(why.find("error"), std::string::npos) << node << ": " << why;
  EXPECT_LE(error_of(exact, model, in), 1e-4);  // nothing is left in halves
  EXPECT_EQ(exact.graph_text().find("f16"), std::string::npos) << exact.graph_text();
}

TEST(DevicePrecision, BestTakesBf16WhereF16Overflows) {
  const Model model = model_of(R"(graph(%x: f32[4,16]) {
    %w1 = const f32[16,16] random(1)
    %big = const f32[]{60000}
    %w2 = const f32[16,16] random(2)
    %a = matmul %x %w1
    %b = mul %a %big
    %y = matmul %b %w2
    return %y
  })");
  const Engine engine =
      build(model, {.device = device(), .threads = 1, .max_error = 0.1, .precision = Precision::best});
  EXPECT_EQ(build_record(engine)->half, "bf16");
  EXPECT_LT(error_of(engine, model, {random_tensor({4, 16}, 3)}), 0.1);
}

TEST(DevicePrecision, WeightsBeyondTheRangeAreTold) {
  const Engine engine = build(model_of(R"(graph(%x: f32[2,2]) {
    %w = const f32[2,2]{100000,1,1,1}
    %v = const f32[2,2] random(2)
    %a = matmul %x %w
    %y = matmul %a %v
    return %y
  })"),
                              {.device = device(), .threads = 1, .precision = Precision::fp16});
  const BuildRecord record = *build_record(engine);
  ASSERT_EQ(record.in_fp32.size(), 1u);
  EXPECT_EQ(record.in_fp32.begin()->first, "a");
  EXPECT_NE(record.in_fp32.begin()->second.find("65504"), std::string::npos);
}

TEST(DevicePrecision, ModelsOfHalvesRunThereAsTheyAre) {
  for (const char* type : {"f16", "bf16"}) {
    std::string text = R"(graph(%x: TYPE[2,3,8,8], %q: TYPE[1,2,6,8]) {
      %w = const TYPE[8,3,3,3] random(1)
      %b = const TYPE[8] random(2)
      %a = conv %x %w %b
      %p = max_pool %a {kernel_shape=[2,2]}
      %g = global_average_pool %p
      %o = sdpa %q %q %q
      return %g, %o
    })";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    const DType half = *dtype_from_name(type);
    const Model model = model_of(text);
    const Engine engine = build(model, {.device = device(), .threads = 1, .verify = Verify::full});
    EXPECT_EQ(engine.graph_text().find("cast"), std::string::npos) << engine.graph_text();
    EXPECT_NE(engine.plan_text({}, device()).find("pool_"), std::string::npos) << engine.plan_text({}, device());
    EXPECT_LT(error_of(engine, model, {random_tensor({2, 3, 8, 8}, 1, half), random_tensor({1, 2, 6, 8}, 2, half)}),
              4 * (half == DType::f16 ? 0x1p-11 : 0x1p-8));
  }
}

TEST(DevicePrecision, TheCpuRefusesWhatOnlyDevicesDo) {
  for (Precision precision : {Precision::fp16, Precision::tf32, Precision::best}) {
    try {
      build(model_of(kBlock), {.precision = precision});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("simt"), std::string::npos) << e.what();
    }
  }
}

TEST(DevicePrecision, FilesRememberIt) {
  const Engine built =
      build(model_of(kBlock), {.device = device(), .threads = 1, .precision = Precision::best, .providers = false});
  const std::vector<uint8_t> bytes = built.to_bytes();
  const Engine file = Engine::from_bytes(bytes.data(), bytes.size());
  const BuildRecord record = *build_record(file);
  EXPECT_EQ(record.options.precision, Precision::best);
  EXPECT_FALSE(record.options.providers);
  EXPECT_EQ(record.half, "f16");
  EXPECT_TRUE(record.error.has_value());
  EXPECT_FALSE(file.state()->plan->limits.providers);
}

}  // namespace
}  // namespace trine
