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

Expected weights_oracle(const Problem& problem, const Data& data) {
  const ConvProblem& p = std::get<ConvWeightsProblem>(problem).forward;
  const OperandSizes sizes = operand_sizes(problem);
  Expected e;
  for (int i = 0; i < 2; ++i) {
    e.out[i].assign(static_cast<size_t>(sizes.out[i]), 0);
    e.bound[i].assign(static_cast<size_t>(sizes.out[i]), 0);
  }
  const int64_t taps = p.kernel[1] * p.kernel[2], pixels = p.n * p.out[1] * p.out[2];
  const double per_term = 2 * static_cast<double>(pixels + 8) * 0x1p-24;
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t m = 0; m < p.out_channels; ++m) {
      const double dy = data.in[1][static_cast<size_t>(i * p.out_channels + m)];
      if (sizes.out[1]) {
        e.out[1][static_cast<size_t>(m)] += dy;
        e.bound[1][static_cast<size_t>(m)] += per_term * std::abs(dy);
      }
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t y = i / p.out[2] % p.out[1] * p.stride[1] + t / p.kernel[2] * p.dilation[1] - p.pad_begin[1];
        const int64_t x = i % p.out[2] * p.stride[2] + t % p.kernel[2] * p.dilation[2] - p.pad_begin[2];
        if (y < 0 || y >= p.in[1] || x < 0 || x >= p.in[2]) continue;
        const int64_t pixel = (i / (p.out[1] * p.out[2]) * p.in[1] + y) * p.in[2] + x;
        for (int64_t c = 0; c < p.in_per_group(); ++c) {
          const int64_t channel = m / p.out_per_group() * p.in_per_group() + c;
          const double product = dy * data.in[0][static_cast<size_t>(pixel * p.in_channels + channel)];
          const auto at = static_cast<size_t>((m * p.in_per_group() + c) * taps + t);
          e.out[0][at] += product;
          e.bound[0][at] += per_term * std::abs(product);
        }
      }
    }
  return e;
}

TEST(Gradients, OfConvolutionWeights) {
  for (const ConvProblem& p : kConvolutions)
    for (bool bias : {false, true}) check_rows(ConvWeightsProblem{p, bias}, weights_oracle);
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

TEST(Primitive, SaysWhatIsMissing) {
  const Primitive conv(kConvolutions[0]);
  Floats x(10000), w(10000), y(10000);
  ThreadPool pool(2);
  EXPECT_THROW(conv.run({.weights = {w.data()}, .out = {y.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .out = {y.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}}), Error);
  EXPECT_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}, pool), Error);
  EXPECT_NO_THROW(conv.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}));
  ConvWeightsProblem transposed{backward_data(kConvolutions[1])};
  try {
    Primitive none(transposed);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("give backward_data of it"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace trine::dnn::test
