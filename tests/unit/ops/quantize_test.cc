// QuantizeLinear and its relatives: rounding, saturation, granularity; random operators: range, mean, seed.
#include <cmath>

#include "base/philox.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;

// B3: f16 rounds to nearest.
TEST(QuantizeLinear, HalfRoundsToNearest) {
  const Tensor x = as(DType::f16, {2}, {0.050018310546875, -0.050018310546875}),
               scale = as(DType::f16, {}, {0.0999755859375});
  EXPECT_EQ(integers("quantize_linear", {x, scale, ints(DType::i8, {}, {0})}), (Integers{1, -1}));
}

// B5: ties go to even, before the zero point is added.
TEST(QuantizeLinear, TiesToEven) {
  const Tensor x = floats({0.5, 1.5, 2.5, -0.5, -1.5, -2.5});
  EXPECT_EQ(integers("quantize_linear", {x, floats({}, {1}), ints(DType::i8, {}, {1})}),
            (Integers{1, 3, 3, 1, -1, -1}));
  EXPECT_EQ(integers("quantize_linear", {x, floats({}, {1})}), (Integers{0, 2, 2, 0, 0, 0}));
}

TEST(QuantizeLinear, SaturatesToEveryType) {
  for (auto [type, low, high] : {std::tuple{DType::u8, 0, 255},
                                 {DType::i8, -128, 127},
                                 {DType::u16, 0, 65535},
                                 {DType::i16, -32768, 32767},
                                 {DType::u4, 0, 15},
                                 {DType::i4, -8, 7},
                                 {DType::u2, 0, 3},
                                 {DType::i2, -2, 1}}) {
    const Attrs attrs = attributes({{"output_dtype", std::string(name(type))}});
    EXPECT_EQ(integers("quantize_linear", {floats({-1e9f, 1e9f, kInf, kNan}), floats({}, {1})}, attrs),
              (Integers{low, high, high, 0}))
        << name(type);
  }
  const Attrs f8 = attributes({{"output_dtype", std::string("f8e4m3fn")}});
  expect_near(reals("quantize_linear", {floats({1e6f, 3}), floats({}, {2})}, f8), {448, 1.5});
}

TEST(QuantizeLinear, AxisAndBlocks) {
  const Tensor x = floats({2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(integers("quantize_linear", {x, floats({1, 2}), ints(DType::u8, {2}, {0, 1})},
                     attributes({{"axis", int64_t{0}}})),
            (Integers{2, 4, 6, 5, 6, 7}));
  const Attrs blocks = attributes({{"axis", int64_t{1}}, {"block_size", int64_t{2}}});
  EXPECT_EQ(integers("quantize_linear", {x, floats({2, 2}, {1, 2, 4, 3})}, blocks), (Integers{2, 4, 3, 2, 2, 4}));
  EXPECT_THROW(run_op("quantize_linear", {x, floats({2, 3}, {1, 1, 1, 1, 1, 1})}, blocks), Error);
  EXPECT_THROW(run_op("quantize_linear", {x, floats({1, 2})}), Error);
  EXPECT_THROW(run_op("quantize_linear", {x, floats({}, {1})}, attributes({{"block_size", int64_t{-1}}})), Error);
}

TEST(DequantizeLinear, TypesAndZeroPoints) {
  expect_near(reals("dequantize_linear", {ints(DType::i4, {2}, {-8, 7}), floats({}, {2}), ints(DType::i4, {1}, {1})}),
              {-18, 12});
  expect_near(
      reals("dequantize_linear", {ints(DType::i8, {2}, {-128, 127}), floats({}, {0.5}), ints(DType::i8, {}, {-2})}),
      {-63, 64.5});
  const auto y = run_op("dequantize_linear", {ints(DType::i32, {1}, {1000}), floats({}, {0.25})},
                        attributes({{"output_dtype", std::string("f16")}}))[0];
  EXPECT_EQ(y.dtype(), DType::f16);
  EXPECT_EQ(y.f64_values()[0], 250);
  EXPECT_THROW(run_op("dequantize_linear", {ints(DType::i8, {1}, {1}), floats({}, {1}), ints(DType::u8, {}, {1})}),
               Error);
}

TEST(DynamicQuantizeLinear, RangeIncludesZero) {
  const auto y = run_op("dynamic_quantize_linear", {floats({0, 2, -3, -2.5, 1.34f, 0.5f})}, {}, 3);
  EXPECT_EQ(y[0].i64_values(), (Integers{153, 255, 0, 26, 221, 179}));
  EXPECT_NEAR(y[1].as<float>()[0], 5.0 / 255, 1e-8);
  EXPECT_EQ(y[2].i64_values(), (Integers{153}));
  EXPECT_EQ(run_op("dynamic_quantize_linear", {floats({0, 0})}, {}, 3)[0].i64_values(), (Integers{0, 0}));
  EXPECT_EQ(run_op("dynamic_quantize_linear", {floats({1, 3})}, {}, 3)[2].i64_values(), (Integers{0}));
}

// Known answers of Random123's kat_vectors for philox4x32-10.
TEST(Philox, KnownAnswer) {
  EXPECT_EQ(Philox(0)(0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, SeedFixesTheResultAndMomentsAgree) {
  const Attrs attrs = attributes({{"shape", Integers{100, 100}}, {"seed", 3.0}, {"mean", 2.0}, {"scale", 0.5}});
  const std::vector<double> x = reals("random_normal", {}, attrs);
  EXPECT_EQ(x, reals("random_normal", {}, attrs));
  double sum = 0, squares = 0;
  for (double v : x) sum += v, squares += (v - 2) * (v - 2);
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(sum / n, 2, 5 * 0.5 / std::sqrt(n));  // five standard errors
  EXPECT_NEAR(squares / n, 0.25, 5 * 0.25 * std::sqrt(2 / n));
  const Tensor p = as(DType::f32, {10000}, std::vector<double>(10000, 0.3));
  double ones = 0;
  for (double v : reals("bernoulli", {p}, attributes({{"seed", 1.0}}))) ones += v;
  EXPECT_NEAR(ones / 1e4, 0.3, 5 * std::sqrt(0.21 / 1e4));
}

TEST(Random, WithoutSeedEveryRunDiffers) {
  const Attrs attrs = attributes({{"shape", Integers{8}}});
  EXPECT_NE(reals("random_uniform", {}, attrs), reals("random_uniform", {}, attrs));
}

TEST(Random, MultinomialFollowsLogits) {
  const Tensor logits = floats({1, 3}, {std::log(0.2f), -kInf, std::log(0.8f)});
  const auto drawn = integers("multinomial", {logits}, attributes({{"sample_size", int64_t{5000}}, {"seed", 2.0}}));
  double twos = 0;
  for (int64_t k : drawn) {
    ASSERT_NE(k, 1);
    twos += k == 2;
  }
  EXPECT_NEAR(twos / 5000, 0.8, 5 * std::sqrt(0.16 / 5000));
}

TEST(Dropout, InferenceKeepsTrainingScales) {
  const Tensor x = as(DType::f32, {1000}, std::vector<double>(1000, 3));
  const auto same = run_op("dropout", {x, floats({}, {0.75})}, {}, 2);
  EXPECT_EQ(same[0].f64_values(), x.f64_values());
  EXPECT_EQ(same[1].i64_values(), Integers(1000, 1));
  const auto y =
      run_op("dropout", {x, floats({}, {0.75}), ints(DType::boolean, {}, {1})}, attributes({{"seed", int64_t{5}}}), 2);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(y[0].as<float>()[i], y[1].as<uint8_t>()[i] ? 12 : 0);
  double kept = 0;
  for (int64_t m : y[1].i64_values()) kept += static_cast<double>(m);
  EXPECT_NEAR(kept / 1000, 0.25, 5 * std::sqrt(0.1875 / 1000));
}

}  // namespace
}  // namespace trine
