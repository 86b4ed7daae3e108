// Pooling: ceil_mode, padding, indices, layouts, and reports that became tests.
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

Tensor counting(Dims dims) {
  std::vector<double> v(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i + 1);
  return as(DType::f32, std::move(dims), v);
}

// report B11: the ceil overhang is no padding and does not count
TEST(AveragePool, ReportB11CeilOverhangDoesNotCount) {
  const Attrs attrs = attributes({{"kernel_shape", Integers{3, 3}},
                                  {"strides", Integers{2, 2}},
                                  {"pads", Integers{1, 1, 1, 1}},
                                  {"ceil_mode", int64_t{1}},
                                  {"count_include_pad", int64_t{1}}});
  expect_near(reals("average_pool", {counting({1, 1, 4, 4})}, attrs),
              {14 / 9.0, 30 / 9.0, 2, 57 / 9.0, 11, 6, 4.5, 7.5, 4}, 1e-6);
}

// report B13: a window that would start in the end padding is dropped
TEST(AveragePool, ReportB13WindowInTheEndPaddingIsDropped) {
  const Attrs attrs = attributes(
      {{"kernel_shape", Integers{2}}, {"strides", Integers{3}}, {"pads", Integers{1, 1}}, {"ceil_mode", int64_t{1}}});
  EXPECT_EQ(reals("average_pool", {floats({1, 1, 4}, {1, 2, 3, 4})}, attrs), (Reals{1, 3.5}));
  EXPECT_EQ(reals("max_pool", {floats({1, 1, 4}, {1, 2, 3, 4})}, attrs), (Reals{1, 4}));
}

TEST(AveragePool, PaddingCountsOnlyWhenAsked) {
  const Tensor x = floats({1, 1, 3}, {3, 6, 9});
  Attrs attrs = attributes({{"kernel_shape", Integers{3}}, {"pads", Integers{1, 1}}});
  EXPECT_EQ(reals("average_pool", {x}, attrs), (Reals{4.5, 6, 7.5}));
  attrs.set("count_include_pad", int64_t{1});
  EXPECT_EQ(reals("average_pool", {x}, attrs), (Reals{3, 6, 5}));
  attrs = attributes({{"kernel_shape", Integers{2}}, {"dilations", Integers{2}}});
  EXPECT_EQ(reals("average_pool", {x}, attrs), (Reals{6}));
}

TEST(LpPool, TakesTheRoot) {
  EXPECT_EQ(reals("lp_pool", {floats({1, 1, 2}, {-3, 4})}, attributes({{"kernel_shape", Integers{2}}})), (Reals{5}));
  EXPECT_EQ(
      reals("lp_pool", {floats({1, 1, 2}, {-3, 4})}, attributes({{"kernel_shape", Integers{2}}, {"p", int64_t{1}}})),
      (Reals{7}));
}

TEST(MaxPool, IndicesAreFlatOverTheWholeTensor) {
  const Tensor x = counting({2, 2, 2, 3});
  Attrs attrs = attributes({{"kernel_shape", Integers{2, 2}}});
  const auto rows = run_op("max_pool", {x}, attrs, 2);
  EXPECT_EQ(rows[0].f64_values(), (Reals{5, 6, 11, 12, 17, 18, 23, 24}));
  EXPECT_EQ(rows[1].i64_values(), (Integers{4, 5, 10, 11, 16, 17, 22, 23}));
  attrs.set("storage_order", int64_t{1});  // (row 1, column 1) of a 2x3 plane is 1*2 + 1
  EXPECT_EQ(run_op("max_pool", {x}, attrs, 2)[1].i64_values(), (Integers{3, 5, 9, 11, 15, 17, 21, 23}));
}

TEST(MaxPool, NhwcHasTheSameIndices) {
  const Tensor x = floats({1, 2, 1, 3}, {1, 5, 2, 9, 0, 7}), nhwc = floats({1, 1, 3, 2}, {1, 9, 5, 0, 2, 7});
  Attrs attrs = attributes({{"kernel_shape", Integers{1, 2}}});
  EXPECT_EQ(run_op("max_pool", {x}, attrs, 2)[1].i64_values(), (Integers{1, 1, 3, 5}));
  attrs.set("layout", std::string("nhwc"));
  const auto y = run_op("max_pool", {nhwc}, attrs, 2);
  EXPECT_EQ(y[0].f64_values(), (Reals{5, 9, 5, 7}));
  EXPECT_EQ(y[1].i64_values(), (Integers{1, 3, 1, 5}));
}

TEST(MaxPool, NanWinsTiesGoFirstIntegersPadWithTheLowest) {
  const Attrs pair = attributes({{"kernel_shape", Integers{2}}});
  expect_near(reals("max_pool", {floats({1, 1, 4}, {1, kNan, 3, 3})}, pair), {kNan, kNan, 3});
  EXPECT_EQ(run_op("max_pool", {floats({1, 1, 3}, {3, 3, 3})}, pair, 2)[1].i64_values(), (Integers{0, 1}));
  const Attrs padded = attributes({{"kernel_shape", Integers{2}}, {"pads", Integers{1, 1}}});
  EXPECT_EQ(integers("max_pool", {ints(DType::i8, {1, 1, 2}, {-7, -128})}, padded), (Integers{-7, -7, -128}));
  EXPECT_EQ(integers("max_pool", {ints(DType::u8, {1, 1, 2}, {7, 200})}, padded), (Integers{7, 200, 200}));
}

TEST(MaxPool, HugeAttributesEndAtOnce) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  const int64_t big = INT32_MAX;
  EXPECT_EQ(reals("max_pool", {x}, attributes({{"kernel_shape", Integers{big}}, {"pads", Integers{big - 4, 0}}})),
            (Reals{4}));
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62, INT64_MAX})
    EXPECT_THROW(run_op("max_pool", {x}, attributes({{"kernel_shape", Integers{bad}}})), Error) << bad;
  EXPECT_THROW(run_op("max_pool", {x}), Error);
}

TEST(GlobalPool, EveryKindAndLayout) {
  const Tensor x = floats({1, 2, 2, 1}, {1, -3, 3, 4}), nhwc = floats({1, 2, 1, 2}, {1, 3, -3, 4});
  const Attrs last = attributes({{"layout", std::string("nhwc")}});
  EXPECT_EQ(reals("global_average_pool", {x}), (Reals{-1, 3.5}));
  EXPECT_EQ(reals("global_average_pool", {nhwc}, last), (Reals{-1, 3.5}));
  EXPECT_EQ(reals("global_max_pool", {x}), (Reals{1, 4}));
  EXPECT_EQ(reals("global_max_pool", {nhwc}, last), (Reals{1, 4}));
  expect_near(reals("global_lp_pool", {x}), {std::sqrt(10.0), 5}, 1e-6);
  expect_near(reals("global_average_pool", {Tensor(DType::f32, {1, 1, 0})}), {kNan});  // the mean of nothing
}

TEST(MaxUnpool, UndoesMaxPool) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), at = ints(DType::i64, {1, 1, 2, 2}, {5, 7, 13, 15});
  Attrs attrs = attributes({{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
  EXPECT_EQ(reals("max_unpool", {x, at}, attrs), (Reals{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}));
  EXPECT_THROW(run_op("max_unpool", {x, ints(DType::i64, {1, 1, 2, 2}, {5, 7, 13, 16})}, attrs), Error);
  EXPECT_THROW(run_op("max_unpool", {x, ints(DType::i64, {1, 1, 2, 2}, {5, 7, 13, -17})}, attrs), Error);
}

TEST(QLinearPool, AveragesRealValues) {
  const auto one = [](float v) { return as(DType::f32, {}, {v}); };
  const Tensor zero = ints(DType::u8, {}, {10}), x = ints(DType::u8, {1, 1, 1, 2}, {12, 15});
  // (12-10 + 15-10)/2 * 2 / 1 = 7
  EXPECT_EQ(integers("qlinear_global_average_pool", {x, one(2), zero, one(1), zero}), (Integers{17}));
  EXPECT_EQ(
      integers("qlinear_average_pool", {x, one(2), zero, one(1), zero}, attributes({{"kernel_shape", Integers{1, 2}}})),
      (Integers{17}));
}

}  // namespace
}  // namespace trine
