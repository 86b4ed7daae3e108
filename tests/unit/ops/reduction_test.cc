// Reductions, positions of extremes, running sums, softmax: NaN, empty axes, zero sizes, integers.
#include <cmath>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Integers = std::vector<int64_t>;

Attrs keepdims(int64_t keep) { return attributes({{"keepdims", keep}}); }

// B7: NaN wherever it stands, for lengths around every vector width.
TEST(Reduce, NanWinsAnywhere) {
  for (const char* op_name : {"reduce_max", "reduce_min"}) {
    for (int n = 1; n <= 40; ++n) {
      for (int at = 0; at < n; ++at) {
        std::vector<float> x(static_cast<size_t>(n), 2);
        x[static_cast<size_t>(at)] = kNan;
        EXPECT_TRUE(std::isnan(reals(op_name, {floats(x)})[0])) << op_name << n << at;
      }
    }
  }
}

TEST(Reduce, OverNothing) {
  const Tensor x = floats({2, 0}, {}), axis = i64s({1});
  expect_near(reals("reduce_sum", {x, axis}), {0, 0});
  expect_near(reals("reduce_prod", {x, axis}), {1, 1});
  expect_near(reals("reduce_max", {x, axis}), {-kInf, -kInf});
  expect_near(reals("reduce_min", {x, axis}), {kInf, kInf});
  expect_near(reals("reduce_mean", {x, axis}), {kNan, kNan});
  expect_near(reals("reduce_log_sum_exp", {x, axis}), {-kInf, -kInf});
  EXPECT_EQ(integers("reduce_max", {ints(DType::u8, {0}, {})}), (Integers{0}));
  EXPECT_EQ(integers("reduce_min", {ints(DType::i32, {0}, {})}), (Integers{INT32_MAX}));
  EXPECT_EQ(run_op("reduce_sum", {floats({0, 3}, {}), axis})[0].dims(), (Dims{0, 1}));
}

TEST(Reduce, AxesGivenAbsentOrEmpty) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_op("reduce_sum", {x, i64s({-1})}, keepdims(0))[0].dims(), (Dims{2}));
  expect_near(reals("reduce_sum", {x, i64s({0})}), {5, 7, 9});
  expect_near(reals("reduce_sum", {x}), {21});
  expect_near(reals("reduce_sum", {x, i64s({})}, keepdims(0)), {21});
  const Attrs noop = attributes({{"noop_with_empty_axes", int64_t{1}}});
  expect_near(reals("reduce_sum_square", {x, i64s({})}, noop), {1, 4, 9, 16, 25, 36});
  EXPECT_EQ(run_op("reduce_max", {x}, noop)[0].dims(), (Dims{2, 3}));
  EXPECT_THROW(run_op("reduce_sum", {x, i64s({2})}), Error);
}

TEST(Reduce, IntegersAreExact) {
  EXPECT_EQ(integers("reduce_sum", {i64s({INT64_MAX, 1})}), (Integers{INT64_MIN}));
  EXPECT_EQ(integers("reduce_sum", {i64s({int64_t{1} << 60, 1})}), (Integers{(int64_t{1} << 60) + 1}));
  EXPECT_EQ(integers("reduce_mean", {ints(DType::i32, {2}, {-1, -2})}), (Integers{-1}));
  EXPECT_EQ(integers("reduce_max", {ints(DType::u64, {2}, {1, -1})}), (Integers{-1}));
  EXPECT_EQ(integers("reduce_l2", {ints(DType::i32, {2}, {3, 4})}), (Integers{5}));
  EXPECT_EQ(integers("reduce_max", {ints(DType::boolean, {3}, {0, 1, 0})}), (Integers{1}));
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  expect_near(reals("reduce_log_sum_exp", {floats({1000, 1000})}), {1000 + std::log(2.0)}, 1e-7);
  expect_near(reals("reduce_log_sum_exp", {floats({-kInf, -kInf})}), {-kInf});
  expect_near(reals("reduce_log_sum_exp", {floats({kInf, 1})}), {kInf});
}

// Flattening a shape: ReduceProd over symbols stays one expression.
TEST(Reduce, FoldsShapeContent) {
  Graph graph;
  const ValueId x = graph.add_input("shape", Type::tensor(DType::i64, Shape{Dim(2)}));
  graph.value(x).content = {Dim::symbol("N"), Dim(4)};
  const ValueId y = graph.add_node(op("reduce_prod"), {x}, keepdims(0));
  infer_shapes(graph);
  EXPECT_EQ((*graph.value(y).content)[0], Dim::symbol("N") * 4);
}

TEST(ArgMax, TiesNanAndLast) {
  const Attrs last = attributes({{"select_last_index", int64_t{1}}});
  EXPECT_EQ(integers("arg_max", {floats({1, 3, 3, 2})}), (Integers{1}));
  EXPECT_EQ(integers("arg_max", {floats({1, 3, 3, 2})}, last), (Integers{2}));
  EXPECT_EQ(integers("arg_min", {floats({1, kNan, -3})}), (Integers{1}));
  EXPECT_EQ(integers("arg_max", {ints(DType::u64, {2}, {1, -1})}), (Integers{1}));
  EXPECT_EQ(run_op("arg_max", {floats({2, 3}, {1, 2, 3, 6, 5, 4})}, attributes({{"axis", int64_t{-1}}}))[0].dims(),
            (Dims{2, 1}));
  EXPECT_THROW(run_op("arg_max", {floats({2, 0}, {})}, attributes({{"axis", int64_t{1}}})), Error);
}

// A15, A17, C9.
TEST(CumSum, AxesReverseExclusive) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  expect_near(reals("cum_sum", {x, Tensor::scalar_i64(0)}), {1, 2, 4, 6});
  expect_near(reals("cum_sum", {x, Tensor::scalar_i64(1)}), {1, 3, 3, 7});
  EXPECT_EQ(integers("cum_sum", {i64s({1, 2, 3}), Tensor::scalar_i64(0)}, attributes({{"reverse", int64_t{1}}})),
            (Integers{6, 5, 3}));
  const Attrs exclusive = attributes({{"exclusive", int64_t{1}}});
  for (int64_t axis : {0, -2})
    expect_near(reals("cum_sum", {floats({1, 2}, {1, 2}), Tensor::scalar_i64(axis)}, exclusive), {0, 0});
  EXPECT_EQ(integers("cum_prod", {i64s({1, 2, 3}), Tensor::scalar_i64(0)},
                     attributes({{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}})),
            (Integers{6, 3, 1}));
  EXPECT_THROW(run_op("cum_sum", {x, Tensor::scalar_i64(2)}), Error);
}

TEST(Softmax, LargeValuesEmptyAndErrors) {
  expect_near(reals("softmax", {floats({1000, 1000})}), {0.5, 0.5});
  expect_near(reals("log_softmax", {floats({0, -1000})}), {0, -1000}, 1e-7);
  expect_near(reals("softmax", {floats({2, 2}, {0, 0, 0, 0})}, attributes({{"axis", int64_t{0}}})),
              {0.5, 0.5, 0.5, 0.5});
  EXPECT_EQ(run_op("softmax", {floats({0, 5}, {})})[0].dims(), (Dims{0, 5}));
  expect_near(reals("hardmax", {floats({1, 3, 3})}), {0, 1, 0});
  try {
    run_op("softmax", {floats({3, 5}, std::vector<float>(15))}, attributes({{"axis", int64_t{2}}}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("softmax: axis 2 outside [-2, 1] for x f32[3,5]"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace trine
