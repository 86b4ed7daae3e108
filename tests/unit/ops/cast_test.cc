// Cast between element types: the float8 tables of the ONNX text, integers, strings.
#include <cmath>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;

Attrs to(DType type, bool saturate = true) {
  return attributes({{"to", std::string(name(type))}, {"saturate", int64_t{saturate}}});
}

std::vector<double> cast_reals(const std::vector<float>& x, DType type, bool saturate) {
  return reals("cast", {floats(x)}, to(type, saturate));
}

// B21: inf, overflow and NaN by the corrected tables, for all float8 types and both settings of saturate.
TEST(Cast, Float8Tables) {
  const std::vector<float> x = {kInf, -kInf, 3.4e38f, 1e6f, kNan};
  for (auto [type, largest] : {std::pair{DType::f8e4m3fn, 448.0},
                               {DType::f8e4m3fnuz, 240.0},
                               {DType::f8e5m2, 57344.0},
                               {DType::f8e5m2fnuz, 57344.0}}) {
    SCOPED_TRACE(name(type));
    expect_near(cast_reals(x, type, true), {largest, -largest, largest, largest, kNan});
    const double overflow = type == DType::f8e5m2 ? kInf : kNan;
    expect_near(cast_reals(x, type, false), {overflow, -overflow, overflow, overflow, kNan});
    expect_near(cast_reals({0.0f, 240, -240}, type, true),
                {0, type == DType::f8e5m2 || type == DType::f8e5m2fnuz ? 256.0 : 240.0,
                 type == DType::f8e5m2 || type == DType::f8e5m2fnuz ? -256.0 : -240.0});
  }
}

TEST(Cast, FnuzHasNoNegativeZero) {
  for (DType type : {DType::f8e4m3fnuz, DType::f8e5m2fnuz})
    EXPECT_FALSE(std::signbit(cast_reals({-0.0f}, type, true)[0])) << name(type);
  for (DType type : {DType::f8e4m3fn, DType::f8e5m2})
    EXPECT_TRUE(std::signbit(cast_reals({-0.0f}, type, true)[0])) << name(type);
}

TEST(Cast, PowerOfTwoScales) {
  const auto mode = [](const char* round, bool saturate) {
    Attrs attrs = to(DType::f8e8m0, saturate);
    attrs.set("round_mode", std::string(round));
    return attrs;
  };
  const Tensor x = floats({1, 1.25, 1.5, 3});
  expect_near(reals("cast", {x}, mode("up", true)), {1, 2, 2, 4});
  expect_near(reals("cast", {x}, mode("down", true)), {1, 1, 1, 2});
  expect_near(reals("cast", {x}, mode("nearest", true)), {1, 1, 2, 4});
  expect_near(reals("cast", {floats({kInf, kNan})}, mode("up", true)), {std::ldexp(1.0, 127), kNan});
  expect_near(reals("cast", {floats({kInf})}, mode("nearest", false)), {kNan});
  EXPECT_THROW(run_op("cast", {x}, mode("sideways", true)), Error);
}

TEST(Cast, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(integers("cast", {floats({1.9f, -1.9f, 300, -300, kNan})}, to(DType::i8)), (Integers{1, -1, 127, -128, 0}));
  EXPECT_EQ(integers("cast", {floats({-1, 1e20f})}, to(DType::u64)), (Integers{0, -1}));
  EXPECT_EQ(integers("cast", {floats({1e20f, kInf, -kInf})}, to(DType::i64)),
            (Integers{INT64_MAX, INT64_MAX, INT64_MIN}));
  EXPECT_EQ(integers("cast", {floats({-9, 8, 7.9f, -8.9f})}, to(DType::i4)), (Integers{0, 0, 7, -8}));
  EXPECT_EQ(integers("cast", {floats({0, -0.0f, kNan, 0.1f})}, to(DType::boolean)), (Integers{0, 0, 1, 1}));
}

TEST(Cast, IntegersWrap) {
  EXPECT_EQ(integers("cast", {i64s({200, -129, int64_t{1} << 32})}, to(DType::i8)), (Integers{-56, 127, 0}));
  expect_near(reals("cast", {ints(DType::u64, {1}, {-1})}, to(DType::f64)), {18446744073709551616.0});
  // F7: -1 -> bool -> i32.
  const Tensor truth = run_op("cast", {i64s({-1})}, to(DType::boolean))[0];
  EXPECT_EQ(integers("cast", {truth}, to(DType::i32)), (Integers{1}));
}

TEST(Cast, StringsBothWays) {
  const Tensor text = Tensor::of_strings({6}, {"3.5", "+INF", "-inf", "NaN", "1e-5", "+7"});
  expect_near(reals("cast", {text}, to(DType::f64)), {3.5, kInf, -kInf, kNan, 1e-5, 7});
  EXPECT_EQ(integers("cast", {Tensor::of_strings({2}, {"9223372036854775807", "-5"})}, to(DType::i64)),
            (Integers{INT64_MAX, -5}));
  EXPECT_THROW(run_op("cast", {Tensor::of_strings({1}, {"word"})}, to(DType::f32)), Error);
  EXPECT_THROW(run_op("cast", {Tensor::of_strings({1}, {""})}, to(DType::i32)), Error);
  EXPECT_EQ(run_op("cast", {floats({314.15926f, kInf, kNan})}, to(DType::string))[0].strings(),
            (std::vector<std::string>{"314.15927", "INF", "NaN"}));
}

// C5: nothing to convert is not an error.
TEST(Cast, Empty) { EXPECT_EQ(run_op("cast", {floats({0}, {})}, to(DType::f16))[0].dims(), (Dims{0})); }

TEST(BitCast, KeepsBits) {
  EXPECT_EQ(integers("bit_cast", {floats({1})}, to(DType::i32)), (Integers{0x3f800000}));
  EXPECT_EQ(integers("bit_cast", {ints(DType::u4, {2}, {15, 7})}, to(DType::i4)), (Integers{-1, 7}));
  EXPECT_EQ(integers("bit_cast", {ints(DType::i4, {1}, {-1})}, to(DType::u4)), (Integers{15}));
  EXPECT_THROW(run_op("bit_cast", {floats({1})}, to(DType::i64)), Error);
}

}  // namespace
}  // namespace trine
