// A fusion gives what its steps give one by one, whether they are fused or not, and says which are.
#include "trine/dnn/fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/float_formats.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

using Floats = std::vector<float>;
constexpr int64_t kM = 6, kK = 9, kN = 21;
const MatmulProblem kMatmul{.m = kM, .n = kN, .k = kK};

Floats random_floats(int64_t n) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  Floats v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random);
  return v;
}

// Runs `f` on a matmul's operands; `step(sum, row, column)` says in f64 what becomes of a sum.
void expect(Fusion& f, int fused, std::initializer_list<const void*> operands,
            const std::function<double(double, size_t, size_t)>& step) {
  const Floats a = random_floats(kM * kK), b = random_floats(kK * kN);
  Floats y(static_cast<size_t>(kM * kN), NAN);
  f.build({.threads = 2});
  EXPECT_EQ(f.fused(), fused) << f.text();
  ThreadPool pool(2);
  f.run({.in = {a.data(), b.data()}, .out = {y.data()}}, operands, pool);
  for (size_t i = 0; i < kM; ++i)
    for (size_t j = 0; j < kN; ++j) {
      double sum = 0;
      for (size_t k = 0; k < kK; ++k) sum += static_cast<double>(a[i * kK + k]) * b[k * kN + j];
      EXPECT_NEAR(y[i * kN + j], step(sum, i, j), 1e-5 * (1 + std::abs(sum))) << f.text();
    }
}

TEST(Fusion, OfWhatAnEpilogueDoes) {
  const Floats bias = random_floats(kN), residual = random_floats(kM * kN);
  Fusion before(kMatmul), after(kMatmul);
  before.bias().add().unary(Unary::relu);
  expect(before, 3, {bias.data(), residual.data()},
         [&](double sum, size_t i, size_t j) { return std::max(0.0, sum + bias[j] + residual[i * kN + j]); });
  EXPECT_NE(before.text().find("  fused     residual\n"), std::string::npos) << before.text();
  after.bias().unary(Unary::clipped_relu, 0.5f).add();
  expect(after, 3, {bias.data(), residual.data()},
         [&](double sum, size_t i, size_t j) { return std::clamp(sum + bias[j], 0.0, 0.5) + residual[i * kN + j]; });
}

TEST(Fusion, TheRestRunsInPlace) {
  const Floats bias = random_floats(kN), scale = random_floats(kN), column = random_floats(kM),
               residual = random_floats(kM * kN);
  Fusion f(kMatmul);
  f.bias().scale().unary(Unary::swish).binary(Binary::max, {kM, 1}).add();
  expect(f, 1, {bias.data(), scale.data(), column.data(), residual.data()}, [&](double sum, size_t i, size_t j) {
    return std::max(apply(Unary::swish, (sum + bias[j]) * scale[j], 0, 1), static_cast<double>(column[i])) +
           residual[i * kN + j];
  });
  EXPECT_NE(f.text().find("not fused swish"), std::string::npos) << f.text();
  EXPECT_NE(f.text().find("comes after mul [21]"), std::string::npos) << f.text();
}

TEST(Fusion, OneOfEach) {
  const Floats first = random_floats(kN), second = random_floats(kN);
  Fusion biases(kMatmul), functions(kMatmul);
  biases.bias().bias();
  expect(biases, 1, {first.data(), second.data()},
         [&](double sum, size_t, size_t j) { return sum + first[j] + second[j]; });
  functions.unary(Unary::relu).unary(Unary::tanh);
  expect(functions, 1, {}, [](double sum, size_t, size_t) { return std::tanh(std::max(sum, 0.0)); });
}

TEST(Fusion, OfAConvolution) {
  ConvProblem p{.in_channels = 8, .out_channels = 5, .in = {1, 4, 4}, .out = {1, 4, 4}, .kernel = {1, 1, 1}};
  const Floats x = random_floats(8 * 16), w = random_floats(40), scale = random_floats(5);
  Floats y(5 * 16);
  Fusion f(p);
  f.scale();
  f.build();
  f.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}, {scale.data()});
  for (size_t i = 0; i < 16; ++i)
    for (size_t m = 0; m < 5; ++m) {
      double sum = 0;
      for (size_t c = 0; c < 8; ++c) sum += static_cast<double>(x[i * 8 + c]) * w[m * 8 + c];
      EXPECT_NEAR(y[i * 5 + m], sum * scale[m], 1e-4);
    }
  p.out_pixel_stride = 7;
  Fusion gaps(p);
  gaps.scale();
  EXPECT_THROW(gaps.build(), Error);
}

TEST(Fusion, WithoutContraction) {
  const Floats x = random_floats(12), b = random_floats(4);
  Floats y(12);
  Fusion f(Dims{3, 4}), nothing(Dims{3, 4});
  f.unary(Unary::sigmoid).bias();
  f.build(), nothing.build();
  f.run({.in = {x.data()}, .out = {y.data()}}, {b.data()});
  for (size_t i = 0; i < 12; ++i) EXPECT_NEAR(y[i], apply(Unary::sigmoid, x[i], 0, 1) + b[i % 4], 1e-5);
  nothing.run({.in = {x.data()}, .out = {y.data()}}, std::initializer_list<const void*>{});
  EXPECT_EQ(x, y);
}

// cuDNN's pattern: scale, shift and relu of the input, the product, and what follows.
TEST(Fusion, AroundAContraction) {
  const Floats a = random_floats(kM * kK), b = random_floats(kK * kN), scale = random_floats(kK),
               shift = random_floats(kK), bias = random_floats(kN);
  Fusion before(Dims{kM, kK});
  before.scale().bias().unary(Unary::relu);
  Fusion f(kMatmul, std::move(before));
  f.bias().unary(Unary::tanh).unary(Unary::absolute);
  f.build({.threads = 2});
  EXPECT_NE(f.text().find("before it:"), std::string::npos) << f.text();
  Floats y(static_cast<size_t>(kM * kN), NAN);
  ThreadPool pool(2);
  f.run({.in = {a.data(), b.data()}, .out = {y.data()}}, {scale.data(), shift.data(), bias.data()}, pool);
  for (size_t i = 0; i < kM; ++i)
    for (size_t j = 0; j < kN; ++j) {
      double sum = bias[j];
      for (size_t k = 0; k < kK; ++k)
        sum += std::max(0.0, static_cast<double>(a[i * kK + k]) * scale[k] + shift[k]) * b[k * kN + j];
      EXPECT_NEAR(y[i * kN + j], std::abs(std::tanh(sum)), 1e-5) << f.text();
    }
  EXPECT_THROW(Fusion(kMatmul, Fusion(Dims{kM, kN})), Error);
  EXPECT_THROW(Fusion(kMatmul, Fusion(Dims{kM, kK}, DType::f16)), Error);
}

// What is not fused works on y in its own type, rounded after each step.
TEST(Fusion, OfOtherTypes) {
  for (DType type : {DType::f16, DType::bf16}) {
    MatmulProblem p = kMatmul;
    p.types = {type, type, type};
    const auto bits = [&](const Floats& v) {
      std::vector<uint16_t> out;
      for (float x : v) out.push_back(small_float_bits(type, x));
      return out;
    };
    const auto a = bits(random_floats(kM * kK)), b = bits(random_floats(kK * kN)),
               residual = bits(random_floats(kM * kN));
    const Floats scale = random_floats(kN);
    std::vector<uint16_t> y(static_cast<size_t>(kM * kN));
    Fusion f(p);
    f.scale().add();
    f.build();
    EXPECT_EQ(f.fused(), 0);
    f.run({.in = {a.data(), b.data()}, .out = {y.data()}}, {scale.data(), residual.data()});
    const auto value = [&](uint16_t x) { return small_float_value(type, x); };
    for (size_t i = 0; i < kM; ++i)
      for (size_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (size_t k = 0; k < kK; ++k) sum += value(a[i * kK + k]) * value(b[k * kN + j]);
        const double want = sum * scale[j] + value(residual[i * kN + j]);
        const double unit = type == DType::f16 ? 0x1p-11 : 0x1p-8;  // of half a last place; rounded three times
        EXPECT_NEAR(value(y[i * kN + j]), want, 4 * unit * (std::abs(sum * scale[j]) + std::abs(want)) + 1e-5);
      }
  }
  MatmulProblem integers = kMatmul;
  integers.types = {DType::u8, DType::i8, DType::u8};
  Fusion f(integers);
  f.unary(Unary::swish);
  EXPECT_THROW(f.build(), Error);
}

TEST(Fusion, SaysWhatIsMissing) {
  Fusion f(Dims{3, 4});
  f.bias();
  Floats x(12);
  EXPECT_THROW(f.run({.in = {x.data()}, .out = {x.data()}}, {x.data()}), Error);
  f.build();
  EXPECT_THROW(f.run({.in = {x.data()}, .out = {x.data()}}, std::initializer_list<const void*>{}), Error);
}

}  // namespace
}  // namespace trine::dnn
