// Elementwise operators: special values, integer rules, broadcasting, and shape arithmetic on symbols.
#include <cmath>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

TEST(Unary, SpecialValues) {
  expect_near(reals("sign", {floats({-2, 0, 3, kNan})}), {-1, 0, 1, kNan});
  expect_near(reals("round", {floats({0.5, 1.5, 2.5, -2.5, -0.5, kInf})}), {0, 2, 2, -2, 0, kInf});
  expect_near(reals("relu", {floats({-1, 2, kNan})}), {0, 2, kNan});
  expect_near(reals("sqrt", {floats({4, -1})}), {2, kNan});
  EXPECT_EQ(integers("is_inf", {floats({kInf, -kInf, kNan, 1})}, attributes({{"detect_negative", int64_t{0}}})),
            (Integers{1, 0, 0, 0}));
  EXPECT_EQ(integers("is_nan", {as(DType::f8e4m3fn, {2}, {kNan, 1})}), (Integers{1, 0}));
}

TEST(Unary, IntegersWrapAndUnsignedStayPositive) {
  EXPECT_EQ(integers("abs", {ints(DType::i8, {2}, {-128, -5})}), (Integers{-128, 5}));
  EXPECT_EQ(integers("abs", {ints(DType::u64, {1}, {-1})}), (Integers{-1}));
  EXPECT_EQ(integers("sign", {ints(DType::u64, {2}, {-1, 0})}), (Integers{1, 0}));
  EXPECT_EQ(integers("bitwise_not", {ints(DType::u8, {2}, {0, 200})}), (Integers{255, 55}));
  EXPECT_EQ(integers("neg", {ints(DType::i64, {1}, {INT64_MIN})}), (Integers{INT64_MIN}));
}

TEST(Activations, KnownValues) {
  const double e = 4 * 6e-8;
  expect_near(reals("softplus", {floats({-100, 0, 100})}), {std::exp(-100.0), std::log(2.0), 100}, e);
  expect_near(reals("hard_sigmoid", {floats({-10, 0, 10, kNan})}), {0, 0.5, 1, kNan}, e);
  expect_near(reals("mish", {floats({-1000, 1, 1000})}), {0, std::tanh(std::log1p(std::exp(1.0))), 1000}, e);
  expect_near(reals("celu", {floats({-1, 2})}, attributes({{"alpha", 2.0}})), {2 * std::expm1(-0.5), 2}, e);
  expect_near(reals("gelu", {floats({-1, 1})}), {-0.15865526, 0.84134474}, e);
  expect_near(reals("shrink", {floats({-2, 0.1f, 2})}, attributes({{"bias", 1.5}, {"lambd", 1.5}})), {-0.5, 0, 0.5}, e);
  EXPECT_EQ(integers("prelu", {ints(DType::i32, {2}, {-3, 3}), ints(DType::i32, {1}, {2})}), (Integers{-6, 3}));
}

TEST(Binary, BroadcastsBothWays) {
  const Tensor y = run_op("add", {floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})})[0];
  EXPECT_EQ(y.dims(), (Dims{2, 3}));
  EXPECT_EQ(y.f64_values(), (Reals{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(run_op("mul", {floats({0, 3}, {}), floats({3}, {1, 2, 3})})[0].dims(), (Dims{0, 3}));
  EXPECT_THROW(run_op("add", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}), Error);
  EXPECT_THROW(run_op("add", {floats({1}), i64s({1})}), Error);
}

TEST(Binary, IntegerDivisionTruncatesAndNeverTraps) {
  EXPECT_EQ(integers("div", {i64s({7, -7, 7, -7, INT64_MIN, 5}), i64s({2, 2, -2, -2, -1, 0})}),
            (Integers{3, -3, -3, 3, INT64_MIN, 0}));
  EXPECT_EQ(integers("div", {ints(DType::i32, {1}, {INT32_MIN}), ints(DType::i32, {1}, {-1})}), (Integers{INT32_MIN}));
  EXPECT_EQ(integers("div", {ints(DType::u64, {1}, {-1}), ints(DType::u64, {1}, {2})}), (Integers{INT64_MAX}));
  EXPECT_EQ(integers("add", {ints(DType::u8, {1}, {200}), ints(DType::u8, {1}, {100})}), (Integers{44}));
  EXPECT_EQ(integers("mul", {i64s({INT64_MAX}), i64s({2})}), (Integers{-2}));
}

TEST(Binary, ModFollowsDivisorOrDividend) {
  const Attrs fmod = attributes({{"fmod", int64_t{1}}});
  EXPECT_EQ(integers("mod", {i64s({-4, 7, 5, INT64_MIN, 3}), i64s({3, -3, 8, -1, 0})}), (Integers{2, -2, 5, 0, 0}));
  EXPECT_EQ(integers("mod", {i64s({-4, 7, 5}), i64s({3, -3, 8})}, fmod), (Integers{-1, 1, 5}));
  expect_near(reals("mod", {floats({-4.5, 4.5, 1, kInf}), floats({3, -3, 0, 1})}), {1.5, -1.5, kNan, kNan});
  expect_near(reals("mod", {floats({1, -1}), floats({-kInf, -kInf})}), {-kInf, -1});
  expect_near(reals("mod", {floats({-4.5}), floats({3})}, fmod), {-1.5});
}

TEST(Binary, PowMixesTypes) {
  EXPECT_EQ(integers("pow", {i64s({2, -3, 2, 1}), i64s({62, 3, -1, -5})}), (Integers{int64_t{1} << 62, -27, 0, 1}));
  EXPECT_EQ(integers("pow", {ints(DType::i32, {2}, {2, 9}), floats({3, 0.5})}), (Integers{8, 3}));
  expect_near(reals("pow", {floats({2, 4}), i64s({-1, 2})}), {0.5, 16});
}

TEST(Binary, ShiftsPastTheWidth) {
  const Attrs right = attributes({{"direction", std::string("RIGHT")}});
  const Attrs left = attributes({{"direction", std::string("LEFT")}});
  EXPECT_EQ(integers("bit_shift", {ints(DType::i8, {4}, {-8, 8, -8, 8}), ints(DType::i8, {4}, {1, 1, 8, -1})}, right),
            (Integers{-4, 4, -1, 0}));
  EXPECT_EQ(integers("bit_shift", {ints(DType::i8, {3}, {-8, 65, 1}), ints(DType::i8, {3}, {1, 1, 8})}, left),
            (Integers{-16, -126, 0}));
  EXPECT_THROW(run_op("bit_shift", {i64s({1}), i64s({1})}, attributes({{"direction", std::string("UP")}})), Error);
}

TEST(Binary, ComparisonsKnowUnsignedAndNan) {
  EXPECT_EQ(integers("less", {ints(DType::u64, {2}, {-1, 1}), ints(DType::u64, {2}, {1, -1})}), (Integers{0, 1}));
  EXPECT_EQ(integers("greater_or_equal", {floats({1, kNan, 2}), floats({1, 1, kNan})}), (Integers{1, 0, 0}));
  EXPECT_EQ(integers("equal", {Tensor::of_strings({2}, {"a", "b"}), Tensor::of_strings({1}, {"b"})}), (Integers{0, 1}));
}

TEST(Variadic, NanWins) {
  expect_near(reals("max", {floats({1, kNan, 3}), floats({kNan, 2, 5})}), {kNan, kNan, 5});
  expect_near(reals("mean", {floats({1}), floats({2}), floats({6})}), {3});
  EXPECT_EQ(integers("min", {ints(DType::u64, {1}, {-1}), ints(DType::u64, {1}, {3})}), (Integers{3}));
}

// F1, B9: min only, max only, both; NaN bounds do not bound; low > high gives high.
TEST(Clip, Bounds) {
  const Tensor x = floats({0.5, -3, 4.5, 11, kNan});
  expect_near(reals("clip", {x, floats({}, {0}), floats({}, {kNan})}), {0.5, 0, 4.5, 11, kNan});
  expect_near(reals("clip", {x, Tensor(), floats({}, {4})}), {0.5, -3, 4, 4, kNan});
  expect_near(reals("clip", {x, floats({}, {4}), floats({}, {2})}), {2, 2, 2, 2, kNan});
  EXPECT_EQ(integers("clip", {i64s({1, INT64_MIN}), Tensor::scalar_i64(-5)}), (Integers{1, -5}));
}

TEST(Where, MovesAnyType) {
  const Tensor condition = ints(DType::boolean, {2, 1}, {1, 0});
  const Tensor y =
      run_op("where", {condition, Tensor::of_strings({1}, {"yes"}), Tensor::of_strings({2}, {"no", "never"})})[0];
  EXPECT_EQ(y.strings(), (std::vector<std::string>{"yes", "yes", "no", "never"}));
}

// Shape arithmetic over the symbol N stays symbolic.
TEST(Content, FoldsSymbols) {
  const auto fold = [](std::string_view op_name, const Dim& a, const Dim& b) {
    Graph graph;
    const ValueId x = graph.add_input("a", Type::tensor(DType::i64, Shape{Dim(1)}));
    const ValueId y = graph.add_input("b", Type::tensor(DType::i64, Shape{Dim(1)}));
    graph.value(x).content = {a};
    graph.value(y).content = {b};
    const ValueId z = graph.add_node(op(op_name), {x, y});
    infer_node(graph, graph.nodes[0]);
    const auto& content = graph.value(z).content;
    return content ? (*content)[0].text() : std::string("unknown");
  };
  const Dim n = Dim::symbol("N");
  EXPECT_EQ(fold("add", n, 2), (n + 2).text());
  EXPECT_EQ(fold("mul", n, 3), (n * 3).text());
  EXPECT_EQ(fold("div", n * 6, 3), (n * 2).text());
  EXPECT_EQ(fold("div", -7, 2), "-3");
  EXPECT_EQ(fold("div", n, -2), "unknown");
  EXPECT_EQ(fold("mul", INT64_MAX, 2), "unknown");
  EXPECT_EQ(fold("max", n, n + 1), (n + 1).text());
  EXPECT_EQ(fold("equal", n, -1), "0");
  EXPECT_EQ(fold("equal", n, n), "1");
  EXPECT_EQ(fold("equal", n, 4), "unknown");
}

// (N - 5) / 2 truncates also where N < 5.
TEST(Content, DivisionOfPossiblyNegative) {
  Graph graph;
  const ValueId x = graph.add_input("a", Type::tensor(DType::i64, Shape(std::vector<Dim>{})));
  graph.value(x).content = {Dim::symbol("N") - 5};
  graph.add_node(op("div"), {x, graph.add_constant(Tensor::scalar_i64(2))});
  infer_shapes(graph);
  const Dim quotient = (*graph.value(graph.nodes[0].outputs[0]).content)[0];
  for (int64_t n : {0, 1, 4, 5, 8}) EXPECT_EQ(quotient.evaluate([n](std::string_view) { return n; }), (n - 5) / 2) << n;
}

}  // namespace
}  // namespace trine
