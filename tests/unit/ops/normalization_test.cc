// Normalisations: against sums written out here, in f16 with large values, and with bad parameters.
#include <cmath>
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;

std::vector<float> random_values(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (float& v : out) v = normal(random);
  return out;
}

constexpr double kTolerance = 8 * 6e-8;  // a few roundings to f32

TEST(LayerNormalization, ThreeOutputs) {
  const std::vector<float> x = random_values(12, 1);
  const auto y =
      run_op("layer_normalization", {floats({3, 4}, x), floats({4}, {1, 2, 3, 4}), floats({4}, {0, 1, 0, 1})}, {}, 3);
  EXPECT_EQ(y[1].dims(), (Dims{3, 1}));
  for (size_t row = 0; row < 3; ++row) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < 4; ++i) mean += x[4 * row + i] / 4.0;
    for (size_t i = 0; i < 4; ++i) variance += std::pow(x[4 * row + i] - mean, 2) / 4;
    const double inverse = 1 / std::sqrt(variance + 1e-5f);
    EXPECT_NEAR(y[1].as<float>()[row], mean, kTolerance);
    EXPECT_NEAR(y[2].as<float>()[row], inverse, kTolerance * inverse);
    for (size_t i = 0; i < 4; ++i) {
      const double want = (x[4 * row + i] - mean) * inverse * static_cast<double>(i + 1) + static_cast<double>(i % 2);
      EXPECT_NEAR(y[0].as<float>()[4 * row + i], want, kTolerance * std::max(1.0, std::fabs(want)));
    }
  }
}

// B17: f16 rows of about 8000 whose squares do not fit f16.
TEST(RmsNormalization, HalfDoesNotOverflow) {
  std::vector<double> x(896);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 ? 8000 : -8000;
  const Tensor scale = as(DType::f16, {896}, std::vector<double>(896, 1));
  for (const char* op_name : {"rms_normalization", "layer_normalization", "simplified_layer_normalization"}) {
    const std::vector<double> y = reals(op_name, {as(DType::f16, {1, 896}, x), scale});
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], i % 2 ? 1 : -1, 0x1p-10) << op_name;
  }
}

TEST(SkipLayerNormalization, FourthOutputIsTheSum) {
  const Tensor x = floats({1, 2, 2}, {1, 2, 3, 5}), skip = floats({2, 2}, {1, 1, 1, 1});
  const auto y = run_op("skip_layer_normalization", {x, skip, floats({1, 1}), Tensor(), floats({1, 0})}, {}, 4);
  EXPECT_EQ(y[3].f64_values(), (std::vector<double>{3, 3, 5, 6}));
  expect_near(y[0].f64_values(), {0, 0, -1, 1}, 1e-5);
  const auto z = run_op("skip_simplified_layer_normalization", {x, skip, floats({1, 2})}, {}, 4);
  EXPECT_EQ(z[3].f64_values(), (std::vector<double>{2, 3, 4, 6}));
  expect_near({z[0].f64_values()[1]}, {2 * 3 / std::sqrt(6.5)}, kTolerance);
}

TEST(BatchNormalization, InferenceAndTraining) {
  const Tensor x = floats({2, 2, 1}, {1, 10, 3, 30}), one = floats({1, 1}), zero = floats({0, 0});
  expect_near(reals("batch_normalization", {x, floats({2, 1}), zero, floats({1, 10}), floats({1, 4})},
                    attributes({{"epsilon", 0.0}})),
              {0, 0, 4, 10}, kTolerance);
  const auto y = run_op("batch_normalization", {x, one, zero, zero, one},
                        attributes({{"training_mode", int64_t{1}}, {"epsilon", 0.0}, {"momentum", 0.5}}), 3);
  expect_near(y[0].f64_values(), {-1, -1, 1, 1}, kTolerance);
  expect_near(y[1].f64_values(), {1, 10}, kTolerance);
  expect_near(y[2].f64_values(), {1, 50.5}, kTolerance);
  EXPECT_THROW(run_op("batch_normalization", {x, floats({1}), zero, zero, one}), Error);
  EXPECT_THROW(run_op("batch_normalization", {floats({}, {1}), one, zero, zero, one}), Error);
}

TEST(GroupNormalization, OneGroupPerChannelIsInstanceNormalization) {
  const Tensor x = floats({2, 4, 3}, random_values(24, 2)), scale = floats(random_values(4, 3)),
               bias = floats(random_values(4, 4));
  expect_near(reals("group_normalization", {x, scale, bias}, attributes({{"num_groups", int64_t{4}}})),
              reals("instance_normalization", {x, scale, bias}));
  EXPECT_THROW(run_op("group_normalization", {x, scale, bias}, attributes({{"num_groups", int64_t{3}}})), Error);
  EXPECT_THROW(run_op("group_normalization", {x, scale, bias}, attributes({{"num_groups", int64_t{0}}})), Error);
}

TEST(LpNormalization, ZeroNormGivesZero) {
  expect_near(reals("lp_normalization", {floats({2, 2}, {3, 4, 0, 0})}), {0.6, 0.8, 0, 0}, kTolerance);
  EXPECT_THROW(run_op("lp_normalization", {floats({1})}, attributes({{"p", int64_t{3}}})), Error);
}

TEST(Lrn, WindowIsClippedAtTheEdges) {
  const Attrs attrs = attributes({{"size", int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}});
  expect_near(reals("lrn", {floats({1, 3, 1}, {1, 2, 3})}, attrs), {1.0 / 6, 2.0 / 14, 3.0 / 10}, kTolerance);
  const Attrs huge = attributes({{"size", INT64_MAX}});
  EXPECT_EQ(run_op("lrn", {floats({1, 3, 1}, {1, 2, 3})}, huge)[0].dims(), (Dims{1, 3, 1}));
}

}  // namespace
}  // namespace trine
