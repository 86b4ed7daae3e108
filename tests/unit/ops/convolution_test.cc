// Convolutions: known values, exactness against a second formula, layouts, and reports that became tests.
#include <algorithm>
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

unsigned fresh_seed() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return seed;
}

// Small whole numbers: every sum is exact, so results must be equal.
Tensor whole_numbers(std::mt19937& random, Dims dims, DType type = DType::f32) {
  std::uniform_int_distribution<int> pick(-4, 4);
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = pick(random);
  return as(type, dims, values);
}

// [N,C,H,W] -> [N,H,W,C]
Tensor to_nhwc(const Tensor& x) {
  const std::vector<double> v = x.f64_values();
  const int64_t n = x.dim(0), c = x.dim(1), pixels = x.dim(2) * x.dim(3);
  std::vector<double> y(v.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < c; ++k)
      for (int64_t p = 0; p < pixels; ++p)
        y[static_cast<size_t>((i * pixels + p) * c + k)] = v[static_cast<size_t>((i * c + k) * pixels + p)];
  return as(x.dtype(), {n, x.dim(2), x.dim(3), c}, y);
}

std::string message_of(std::string_view op_name, const std::vector<Tensor>& inputs, const Attrs& attrs = {}) {
  try {
    run_op(op_name, inputs, attrs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Conv, StrideDilationGroupsAndPadsMatchTheFormula) {
  std::mt19937 random(fresh_seed());
  const Tensor x = whole_numbers(random, {2, 4, 7, 6}), w = whole_numbers(random, {6, 2, 3, 2}),
               b = whole_numbers(random, {6});
  const Attrs attrs = attributes({{"group", int64_t{2}},
                                  {"strides", Integers{2, 1}},
                                  {"dilations", Integers{1, 2}},
                                  {"pads", Integers{1, 0, 2, 3}}});
  const Tensor y = run_op("conv", {x, w, b}, attrs)[0];
  ASSERT_EQ(y.dims(), (Dims{2, 6, 4, 7}));
  const Reals xv = x.f64_values(), wv = w.f64_values(), bv = b.f64_values(), yv = y.f64_values();
  size_t at = 0;
  for (int n = 0; n < 2; ++n)
    for (int m = 0; m < 6; ++m)
      for (int oh = 0; oh < 4; ++oh)
        for (int ow = 0; ow < 7; ++ow, ++at) {
          double sum = bv[static_cast<size_t>(m)];
          for (int c = 0; c < 2; ++c)
            for (int kh = 0; kh < 3; ++kh)
              for (int kw = 0; kw < 2; ++kw) {
                const int h = oh * 2 - 1 + kh, wi = ow + kw * 2;
                if (h < 0 || h >= 7 || wi >= 6) continue;
                sum += xv[static_cast<size_t>(((n * 4 + m / 3 * 2 + c) * 7 + h) * 6 + wi)] *
                       wv[static_cast<size_t>(((m * 2 + c) * 3 + kh) * 2 + kw)];
              }
          ASSERT_EQ(yv[at], sum) << "element " << at;
        }
}

TEST(Conv, NhwcIsTheSameConvolution) {
  std::mt19937 random(fresh_seed());
  const Tensor x = whole_numbers(random, {2, 6, 5, 4}), w = whole_numbers(random, {4, 3, 3, 3}),
               b = whole_numbers(random, {4});
  Attrs attrs =
      attributes({{"group", int64_t{2}}, {"auto_pad", std::string("SAME_LOWER")}, {"strides", Integers{2, 2}}});
  const Tensor y = run_op("conv", {x, w, b}, attrs)[0];
  attrs.set("layout", std::string("nhwc"));
  EXPECT_EQ(run_op("conv", {to_nhwc(x), w, b}, attrs)[0].f64_values(), to_nhwc(y).f64_values());
}

TEST(Conv, EpilogueAddsBiasThenResidualThenActivates) {
  const Tensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 1}, {1}), b = floats({-2.5}),
               residual = floats({1, 1, 3}, {0, 1, 10});
  EXPECT_EQ(
      reals("conv", {x, w, b, residual}, attributes({{"activation", std::string("relu")}, {"residual", int64_t{1}}})),
      (Reals{0, 0.5, 10.5}));
  EXPECT_EQ(
      reals("conv", {x, w, b, residual}, attributes({{"activation", std::string("relu")}, {"residual", int64_t{2}}})),
      (Reals{0, 1, 10.5}));
  const Attrs clip =
      attributes({{"activation", std::string("clip")}, {"activation_alpha", 0.0}, {"activation_beta", 2.0}});
  EXPECT_EQ(reals("conv", {x, w, Tensor(), residual}, clip), (Reals{1, 2, 2}));
  const Attrs contrib = attributes({{"activation", std::string("LeakyRelu")}, {"activation_params", Reals{0.5}}});
  EXPECT_EQ(reals("fused_conv", {x, w, b}, contrib), (Reals{-0.75, -0.25, 0.5}));
}

TEST(Conv, AutoPadPutsTheOddElementWhereItBelongs) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4}), w = floats({1, 1, 2}, {1, 10});
  EXPECT_EQ(reals("conv", {x, w}, attributes({{"auto_pad", std::string("SAME_UPPER")}})), (Reals{21, 32, 43, 4}));
  EXPECT_EQ(reals("conv", {x, w}, attributes({{"auto_pad", std::string("SAME_LOWER")}})), (Reals{10, 21, 32, 43}));
  EXPECT_EQ(reals("conv", {x, w}, attributes({{"auto_pad", std::string("VALID")}})), (Reals{21, 32, 43}));
}

TEST(Conv, SymbolicShapes) {
  Graph graph;
  const ValueId x = graph.add_input("x", Type::parse("f32[N,8,H,W]")),
                w = graph.add_input("w", Type::parse("f32[16,8,3,3]"));
  graph.outputs = {
      graph.add_node(op("conv"), {x, w}, attributes({{"pads", Integers{1, 1, 1, 1}}, {"strides", Integers{2, 2}}}))};
  infer_shapes(graph);
  const Shape& y = graph.type(graph.outputs[0]).shape;
  const auto bind = [](std::string_view name) {
    return std::optional<int64_t>(name == "N" ? 3 : name == "H" ? 17 : 32);
  };
  EXPECT_EQ(*y.evaluate(bind), (Dims{3, 16, 9, 16}));
  EXPECT_EQ(y[0].text(), "N");
}

// report A1: a weight of rank 0 crashed shape inference elsewhere
TEST(Conv, ReportA1WeightOfRankZeroIsAnError) {
  const Tensor x = as(DType::f32, {7, 6, 1, 5}, Reals(210, 1.0)), w = as(DType::f32, {}, {1}),
               b = as(DType::f32, {7, 2, 3, 2, 1}, Reals(84, 1.0));
  const std::string message =
      message_of("conv", {x, w, b}, attributes({{"auto_pad", std::string("NOTSET")}, {"group", int64_t{1}}}));
  EXPECT_NE(message.find("conv"), std::string::npos) << message;
  EXPECT_NE(message.find("w has 0 dimensions"), std::string::npos) << message;
}

TEST(Conv, WrongOperandsAreNamed) {
  const Tensor x = as(DType::f32, {1, 4, 5}, Reals(20, 1.0));
  EXPECT_NE(message_of("conv", {x, as(DType::f32, {2, 3, 3}, Reals(18, 1.0))}), "");
  EXPECT_NE(message_of("conv", {x, as(DType::f32, {2, 4, 9}, Reals(72, 1.0))}), "");
  EXPECT_NE(message_of("conv", {x, as(DType::f32, {3, 2, 1}, Reals(6, 1.0))}, attributes({{"group", int64_t{2}}})), "");
  const Tensor w = as(DType::f32, {2, 4, 1}, Reals(8, 1.0));
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62, INT64_MAX}) {
    EXPECT_NE(message_of("conv", {x, w}, attributes({{"strides", Integers{bad}}})), "") << bad;
    EXPECT_NE(message_of("conv", {x, w}, attributes({{"dilations", Integers{bad}}})), "") << bad;
    EXPECT_NE(message_of("conv", {x, w}, attributes({{"group", bad}})), "") << bad;
    if (bad != 0) {
      EXPECT_NE(message_of("conv", {x, w}, attributes({{"pads", Integers{bad, bad}}})), "") << bad;
    }
  }
  EXPECT_NE(message_of("conv", {x, w, floats({1, 2, 3})}), "");
}

TEST(Conv, EmptyBatchIsNoError) {
  const Tensor x(DType::f32, {0, 2, 4}), w = as(DType::f32, {3, 2, 3}, Reals(18, 1.0));
  EXPECT_EQ(run_op("conv", {x, w})[0].dims(), (Dims{0, 3, 2}));
}

// report A5: output_padding dropped gave 55
TEST(ConvTranspose, ReportA5OutputPaddingCounts) {
  const Tensor x = as(DType::f32, {1, 1, 28, 28}, Reals(784, 1.0)), w = as(DType::f32, {1, 1, 3, 3}, Reals(9, 1.0));
  const Attrs attrs =
      attributes({{"strides", Integers{2, 2}}, {"pads", Integers{1, 1, 1, 1}}, {"output_padding", Integers{1, 1}}});
  EXPECT_EQ(run_op("conv_transpose", {x, w}, attrs)[0].dims(), (Dims{1, 1, 56, 56}));
}

// <conv(x, w), y> == <x, conv_transpose(y, w)>: the definition of the adjoint, exact on whole numbers.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  std::mt19937 random(fresh_seed());
  const Attrs attrs = attributes({{"group", int64_t{2}},
                                  {"strides", Integers{2, 3}},
                                  {"dilations", Integers{2, 1}},
                                  {"pads", Integers{1, 0, 0, 2}}});
  const Tensor x = whole_numbers(random, {2, 4, 8, 11}, DType::f64),
               w = whole_numbers(random, {6, 2, 2, 3}, DType::f64);
  const Tensor y = run_op("conv", {x, w}, attrs)[0];
  const Tensor g = whole_numbers(random, y.dims(), DType::f64);
  Attrs back = attrs;
  const Tensor bare = run_op("conv_transpose", {g, w}, back)[0];
  back.set("output_padding", Integers{8 - bare.dim(2), 11 - bare.dim(3)});
  const Tensor d = run_op("conv_transpose", {g, w}, back)[0];
  ASSERT_EQ(d.dims(), x.dims());
  const auto inner = [](const Reals& a, const Reals& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  EXPECT_EQ(inner(y.f64_values(), g.f64_values()), inner(x.f64_values(), d.f64_values()));
}

TEST(ConvTranspose, OutputShapeAndSameDecideThePads) {
  const Tensor x = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 3}, {1, 10, 100});
  // full: 1 10 102 20 200
  EXPECT_EQ(reals("conv_transpose", {x, w}, attributes({{"strides", Integers{2}}})), (Reals{1, 10, 102, 20, 200}));
  EXPECT_EQ(reals("conv_transpose", {x, w}, attributes({{"strides", Integers{2}}, {"output_shape", Integers{4}}})),
            (Reals{10, 102, 20, 200}));
  EXPECT_EQ(
      reals("conv_transpose", {x, w}, attributes({{"strides", Integers{2}}, {"auto_pad", std::string("SAME_UPPER")}})),
      (Reals{1, 10, 102, 20}));
  EXPECT_EQ(
      reals("conv_transpose", {x, w}, attributes({{"strides", Integers{2}}, {"auto_pad", std::string("SAME_LOWER")}})),
      (Reals{10, 102, 20, 200}));
  EXPECT_EQ(reals("conv_transpose", {x, w}, attributes({{"strides", Integers{2}}, {"output_shape", Integers{7}}})),
            (Reals{1, 10, 102, 20, 200, 0, 0}));
}

TEST(ConvTranspose, NhwcIsTheSame) {
  std::mt19937 random(fresh_seed());
  const Tensor x = whole_numbers(random, {2, 4, 3, 5}), w = whole_numbers(random, {4, 3, 2, 3}),
               b = whole_numbers(random, {6});
  Attrs attrs = attributes({{"group", int64_t{2}}, {"strides", Integers{2, 1}}, {"pads", Integers{0, 1, 1, 0}}});
  const Tensor y = run_op("conv_transpose", {x, w, b}, attrs)[0];
  attrs.set("layout", std::string("nhwc"));
  EXPECT_EQ(run_op("conv_transpose", {to_nhwc(x), w, b}, attrs)[0].f64_values(), to_nhwc(y).f64_values());
}

TEST(DeformConv, ZeroOffsetsAreAConvolution) {
  std::mt19937 random(fresh_seed());
  const Tensor x = whole_numbers(random, {1, 4, 5, 6}), w = whole_numbers(random, {2, 2, 3, 3}),
               b = whole_numbers(random, {2});
  const Attrs attrs = attributes({{"group", int64_t{2}}, {"pads", Integers{1, 1, 1, 1}}, {"offset_group", int64_t{2}}});
  Attrs plain = attrs;
  plain.erase("offset_group");
  const Tensor offset = as(DType::f32, {1, 36, 5, 6}, Reals(36 * 30, 0.0));
  EXPECT_EQ(reals("deform_conv", {x, w, offset, b}, attrs), reals("conv", {x, w, b}, plain));
}

TEST(DeformConv, HalfOffsetsInterpolateAndMaskScales) {
  const Tensor x = floats({1, 1, 1, 3}, {1, 2, 4}), w = floats({1, 1, 1, 1}, {1});
  const Tensor offset = floats({1, 2, 1, 3}, {0, 0, 0, 0.5, 0.5, 0.5}), mask = floats({1, 1, 1, 3}, {1, 2, 1});
  EXPECT_EQ(reals("deform_conv", {x, w, offset, Tensor(), mask}), (Reals{1.5, 6, 2}));
}

TEST(ConvInteger, PaddingCountsAsTheZeroPoint) {
  const Tensor x = ints(DType::u8, {1, 1, 3}, {2, 255, 4}), w = ints(DType::i8, {2, 1, 2}, {-128, 1, 2, 3});
  const Tensor xz = ints(DType::u8, {}, {2}), wz = ints(DType::i8, {2}, {-1, 0});
  EXPECT_EQ(integers("conv_integer", {x, w, xz, wz}, attributes({{"pads", Integers{1, 0}}})),
            (Integers{0, 253 * 2, -127 * 253 + 2 * 2, 0, 759, 2 * 253 + 3 * 2}));
}

TEST(QLinearConv, RoundsHalfToEvenAndSaturates) {
  const auto one = [](float v) { return as(DType::f32, {}, {v}); };
  const Tensor x = ints(DType::u8, {1, 1, 4}, {1, 3, 5, 200}), w = ints(DType::i8, {1, 1, 1}, {1});
  const Tensor zero8 = ints(DType::i8, {}, {0}), zero = ints(DType::u8, {}, {0}), one_zero = ints(DType::u8, {}, {1});
  // x/2 = .5 1.5 2.5 100 -> 0 2 2 100, plus zero point 1
  EXPECT_EQ(integers("qlinear_conv", {x, one(1), zero, w, one(1), zero8, one(2), one_zero}), (Integers{1, 3, 3, 101}));
  EXPECT_EQ(integers("qlinear_conv", {x, one(1), zero, w, one(2), zero8, one(1), zero, ints(DType::i32, {1}, {100})}),
            (Integers{202, 206, 210, 255}));
}

TEST(CausalConv, StateCarriesOver) {
  std::mt19937 random(fresh_seed());
  const Tensor w = whole_numbers(random, {2, 1, 3}), b = whole_numbers(random, {2}),
               x = whole_numbers(random, {1, 2, 5});
  const Reals xv = x.f64_values();
  const Tensor head = as(DType::f32, {1, 2, 1}, {xv[0], xv[5]}),
               tail = as(DType::f32, {1, 2, 4}, {xv[1], xv[2], xv[3], xv[4], xv[6], xv[7], xv[8], xv[9]});
  const auto whole = run_op("causal_conv_with_state", {x, w, b}, {}, 2);
  const auto first = run_op("causal_conv_with_state", {head, w, b}, {}, 2);
  const auto second = run_op("causal_conv_with_state", {tail, w, b, first[1]}, {}, 2);
  const Reals y = whole[0].f64_values(), y1 = first[0].f64_values(), y2 = second[0].f64_values();
  EXPECT_EQ((Reals{y[0], y[5]}), y1);
  EXPECT_EQ((Reals{y[1], y[2], y[3], y[4], y[6], y[7], y[8], y[9]}), y2);
  EXPECT_EQ(whole[1].f64_values(), second[1].f64_values());
}

}  // namespace
}  // namespace trine
