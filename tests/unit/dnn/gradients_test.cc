// Gradients of convolutions, by their definition, and as adjoints: <conv(x, w), dy> = <x, dx> = <w, dw>.
#include <gtest/gtest.h>

#include <random>

#include "check_rows.h"
#include "trine/base/error.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

ConvProblem conv2d(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t pad = 0,
                   int64_t groups = 1, int64_t dilation = 1) {
  ConvProblem p;
  p.n = 2;
  p.in_channels = in, p.out_channels = out, p.groups = groups;
  p.in = {1, size, size + 1}, p.kernel = {1, kernel, kernel};
  p.stride = {1, stride, stride}, p.dilation = {1, dilation, dilation}, p.pad_begin = {0, pad, pad};
  for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  return p;
}

const ConvProblem kConvolutions[] = {
    conv2d(7, 16, 24, 1),           conv2d(9, 8, 33, 3, 1, 1),       conv2d(12, 20, 17, 3, 2, 1),
    conv2d(11, 12, 10, 5, 1, 2),    conv2d(10, 9, 8, 3, 1, 2, 1, 2), conv2d(8, 32, 32, 3, 1, 1, 2),
    conv2d(8, 19, 19, 3, 2, 1, 19), conv2d(6, 3, 40, 3, 1, 1),       conv2d(6, 6, 4, 3, 1, 4, 2),
    conv2d(20, 40, 12, 3, 1, 1),    conv2d(17, 8, 136, 1),  // the last block of pixels is smaller: its rows need longer
                                                            // tables
};

// dw and db by the definition: every product of x and dy that meets at a kernel position, of transposed ones exchanged.
Expected weights_oracle(const Problem& problem, const Data& data) {
  const auto& w = std::get<ConvWeightsProblem>(problem);
  const ConvProblem& p = w.forward;
  const OperandSizes sizes = operand_sizes(problem);
  Expected e;
  for (int i = 0; i < 2; ++i) {
    e.out[i].assign(static_cast<size_t>(sizes.out[i]), 0);
    e.bound[i].assign(static_cast<size_t>(sizes.out[i]), 0);
  }
  const ConvProblem q = p.transposed ? backward_data(p) : p;  // its "out" lies on the lattice of strides
  const auto pixels_of = [](const Extents& x) { return x[0] * x[1] * x[2]; };
  const int64_t taps = pixels_of(q.kernel), pixels = q.n * pixels_of(q.out);
  const double per_term = 2 * static_cast<double>(std::max(pixels, p.n * pixels_of(p.out)) + 8) * 0x1p-24;
  const auto add = [&](int i, int64_t at, double v) {
    e.out[i][static_cast<size_t>(at)] += v;
    e.bound[i][static_cast<size_t>(at)] +=
        per_term * (std::abs(v) + std::abs(e.out[i][static_cast<size_t>(at)]) * 1e-3);
  };
  const auto stride = [](int64_t given, int64_t dense) { return given ? given : dense; };
  const Floats &of_in = data.in[p.transposed ? 1 : 0], &of_out = data.in[p.transposed ? 0 : 1];
  const auto in_at = [&](int64_t n, int64_t pixel, int64_t c) {
    return static_cast<double>(of_in[static_cast<size_t>(
        q.in_layout == Layout::nchw ? (n * q.in_channels + c) * pixels_of(q.in) + pixel
                                    : (n * pixels_of(q.in) + pixel) * stride(q.in_pixel_stride, q.in_channels) + c)]);
  };
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t m = 0; m < q.out_channels; ++m) {
      const double v = of_out[static_cast<size_t>(i * stride(q.out_pixel_stride, q.out_channels) + m)];
      for (int64_t t = 0; t < taps; ++t) {
        int64_t at[3], row = i % pixels_of(q.out), tap = t;
        bool inside = true;
        for (size_t a = 3; a-- > 0; row /= q.out[a], tap /= q.kernel[a]) {
          at[a] = row % q.out[a] * q.stride[a] + tap % q.kernel[a] * q.dilation[a] - q.pad_begin[a];
          inside = inside && at[a] >= 0 && at[a] < q.in[a];
        }
        if (!inside) continue;
        for (int64_t c = 0; c < q.in_per_group(); ++c)
          add(0, (m * q.in_per_group() + c) * taps + t,
              v * in_at(i / pixels_of(q.out), (at[0] * q.in[1] + at[1]) * q.in[2] + at[2],
                        m / q.out_per_group() * q.in_per_group() + c));
      }
    }
  for (int64_t i = 0; sizes.out[1] && i < p.n * pixels_of(p.out); ++i)
    for (int64_t m = 0; m < p.out_channels; ++m)
      add(1, m, data.in[1][static_cast<size_t>(i * stride(p.out_pixel_stride, p.out_channels) + m)]);
  return e;
}

TEST(Gradients, OfConvolutionWeights) {
  for (const ConvProblem& p : kConvolutions)
    for (bool bias : {false, true}) check_rows(ConvWeightsProblem{p, bias}, weights_oracle);
}

TEST(Gradients, OfWeightsInOneAndThreeDimensionsAndOtherLayouts) {
  ConvProblem line{
      .n = 2, .in_channels = 10, .out_channels = 21, .in = {1, 1, 50}, .out = {1, 1, 25}, .kernel = {1, 1, 9}};
  line.stride = {1, 1, 2}, line.pad_begin = {0, 0, 4};
  check_rows(ConvWeightsProblem{line, true}, weights_oracle);
  ConvProblem solid{
      .n = 2, .in_channels = 9, .out_channels = 8, .in = {4, 5, 6}, .out = {4, 4, 6}, .kernel = {3, 2, 3}};
  solid.pad_begin = {1, 0, 1};
  check_rows(ConvWeightsProblem{solid, true}, weights_oracle);
  for (ConvProblem p : kConvolutions) {
    p.in_layout = Layout::nchw;
    check_rows(ConvWeightsProblem{p, true}, weights_oracle);
    p.in_layout = Layout::nhwc, p.in_pixel_stride = p.in_channels + 3, p.out_pixel_stride = p.out_channels + 5;
    check_rows(ConvWeightsProblem{p, true}, weights_oracle);
  }
}

TEST(Gradients, OfTransposedConvolutionWeights) {
  for (const ConvProblem& p : kConvolutions) check_rows(ConvWeightsProblem{backward_data(p), true}, weights_oracle);
}

TEST(Gradients, OfNoImages) {
  ConvProblem p = conv2d(7, 16, 24, 3);
  p.n = 0;
  check_rows(ConvWeightsProblem{p, true}, weights_oracle);
}

Floats random_floats(int64_t n, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Floats v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random);
  return v;
}

double dot(const Floats& a, const Floats& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(Gradients, AreAdjoints) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  ThreadPool pool(2);
  for (const ConvProblem& p : kConvolutions) {
    const OperandSizes sizes = operand_sizes(p);
    const Floats x = random_floats(sizes.in[0], random), w = random_floats(sizes.weights[0], random);
    const Floats dy = random_floats(sizes.out[0], random);
    Floats y(dy.size(), NAN), dx(x.size(), NAN), dw(w.size(), NAN);
    const Limits limits{.threads = 2};
    Primitive(p, limits).run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}, pool);
    Primitive(backward_data(p), limits).run({.in = {dy.data()}, .weights = {w.data()}, .out = {dx.data()}}, pool);
    Primitive(ConvWeightsProblem{p}, limits).run({.in = {x.data(), dy.data()}, .out = {dw.data()}}, pool);
    double magnitude = 1;
    for (size_t i = 0; i < y.size(); ++i) magnitude += std::abs(static_cast<double>(y[i]) * dy[i]);
    EXPECT_NEAR(dot(y, dy), dot(x, dx), 1e-5 * magnitude) << text(p);
    EXPECT_NEAR(dot(y, dy), dot(w, dw), 1e-5 * magnitude) << text(p);
  }
}

// Of small integers, so that every sum is exact: what was there, and the gradient twice.
TEST(Gradients, OfWeightsAreAddedToWhatIsThere) {
  std::mt19937 random(std::random_device{}());
  const auto integers = [&](int64_t n) {
    Floats v(static_cast<size_t>(n));
    for (float& x : v) x = static_cast<float>(random() % 7) - 3;
    return v;
  };
  for (const ConvProblem& forward : kConvolutions)
    for (const ConvProblem& p : {forward, backward_data(forward)}) {
      ConvWeightsProblem problem{p, true};
      const OperandSizes sizes = operand_sizes(problem);
      const Floats x = integers(sizes.in[0]), dy = integers(sizes.in[1]), dw0 = integers(sizes.out[0]),
                   db0 = integers(sizes.out[1]);
      Floats dw(dw0.size()), db(db0.size()), dw_sum = dw0, db_sum = db0;
      Primitive(problem).run({.in = {x.data(), dy.data()}, .out = {dw.data(), db.data()}});
      problem.add = true;
      const Primitive adds(problem);
      for (int i = 0; i < 2; ++i) adds.run({.in = {x.data(), dy.data()}, .out = {dw_sum.data(), db_sum.data()}});
      for (size_t i = 0; i < dw.size(); ++i) ASSERT_EQ(dw_sum[i], dw0[i] + 2 * dw[i]) << text(problem);
      for (size_t i = 0; i < db.size(); ++i) ASSERT_EQ(db_sum[i], db0[i] + 2 * db[i]) << text(problem);
    }
}

TEST(Primitive, SaysWhatIsMissing) {
  const Primitive conv(kConvolutions[0]);
  Floats x(10000), w(10000), y(10000);
  ThreadPool pool(2);
  EXPECT_THROW(conv.run({.weights = {w.data()}, .out = {y.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .out = {y.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}, pool), Error);
  EXPECT_NO_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}));
  ConvProblem wrong = kConvolutions[1];
  wrong.stride[2] = 0;
  try {
    Primitive none(wrong);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("stride 0; 1 at least"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace trine::dnn::test
