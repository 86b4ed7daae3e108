// Fourier transforms, window functions, losses, optimiser steps, quantised elementwise operators, embeddings.
#include <complex>
#include <numbers>
#include <random>

#include "ops/fft.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;
using Complex = std::complex<double>;

// Against the definition, for lengths of both algorithms: 1, 2, primes, powers of two and their neighbours.
TEST(Fft, MatchesTheDefinition) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> pick(-1, 1);
  for (size_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 64, 97}) {
    std::vector<Complex> x(n);
    for (Complex& v : x) v = {pick(random), pick(random)};
    const std::vector<Complex> y = fft(x), back = fft(y, true);
    for (size_t k = 0; k < n; ++k) {
      Complex want = 0;
      for (size_t i = 0; i < n; ++i)
        want += x[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n));
      EXPECT_NEAR(std::abs(y[k] - want), 0, 1e-13 * static_cast<double>(n)) << n;
      EXPECT_NEAR(std::abs(back[k] - x[k]), 0, 1e-13 * static_cast<double>(n)) << n;
    }
  }
}

TEST(Dft, OnesidedRoundTripAndAxes) {
  const Tensor x = as(DType::f64, {1, 4, 1}, {1, 2, 3, 5});
  const Attrs half = attributes({{"onesided", int64_t{1}}});
  const Tensor y = run_op("dft", {x}, half)[0];
  expect_near(y.f64_values(), {11, 0, -2, 3, -3, 0}, 1e-14);
  expect_near(reals("dft", {y}, attributes({{"onesided", int64_t{1}}, {"inverse", int64_t{1}}})), {1, 2, 3, 5}, 1e-14);
  expect_near(reals("dft", {x, Tensor(), as(DType::i64, {}, {0})}), {1, 0, 2, 0, 3, 0, 5, 0}, 1e-14);
  EXPECT_EQ(run_op("dft", {x, as(DType::i64, {}, {6})}, half)[0].dims(), (Dims{1, 4, 2}));
  expect_near(reals("dft", {x, as(DType::i64, {}, {2})}), {3, 0, -1, 0}, 1e-14);
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 62, INT64_MAX})
    EXPECT_THROW(run_op("dft", {x, ints(DType::i64, {}, {bad})}), Error);
  EXPECT_THROW(run_op("dft", {floats({1, 0, 1}, {})}, half), Error);  // 0 / 2 + 1 bins, of nothing
  EXPECT_EQ(run_op("dft", {floats({1, 0, 1}, {})})[0].dims(), (Dims{1, 0, 2}));
  for (int64_t bad : {int64_t{2}, int64_t{-1}, int64_t{-4}})
    EXPECT_THROW(run_op("dft", {x, Tensor(), ints(DType::i64, {}, {bad})}), Error);
}

TEST(Stft, FramesAndWindow) {
  const Tensor x = as(DType::f64, {1, 6, 1}, {1, 2, 3, 4, 5, 6}), step = as(DType::i64, {}, {2}),
               window = as(DType::f64, {2}, {1, 0.5});
  const Tensor y = run_op("stft", {x, step, window})[0];
  EXPECT_EQ(y.dims(), (Dims{1, 3, 2, 2}));
  expect_near(y.f64_values(), {2, 0, 0, 0, 5, 0, 1, 0, 8, 0, 2, 0}, 1e-14);
  EXPECT_THROW(run_op("stft", {x, as(DType::i64, {}, {0}), window}), Error);
  EXPECT_THROW(run_op("stft", {x, step, Tensor(), as(DType::i64, {}, {7})}), Error);
}

TEST(Windows, KnownValues) {
  const Tensor four = as(DType::i64, {}, {4});
  expect_near(reals("hann_window", {four}), {0, 0.5, 1, 0.5}, 1e-6);
  expect_near(reals("hann_window", {four}, attributes({{"periodic", int64_t{0}}})), {0, 0.75, 0.75, 0}, 1e-6);
  expect_near(reals("hamming_window", {four}), {4 / 46.0, 25 / 46.0, 1, 25 / 46.0}, 1e-6);
  expect_near(reals("blackman_window", {four}), {0, 0.34, 1, 0.34}, 1e-6);
  EXPECT_EQ(run_op("hann_window", {four}, attributes({{"output_datatype", std::string("f64")}}))[0].dtype(),
            DType::f64);
  EXPECT_EQ(run_op("hann_window", {as(DType::i64, {}, {0})})[0].dims(), (Dims{0}));
  EXPECT_THROW(run_op("hann_window", {as(DType::i64, {}, {-1})}), Error);
}

TEST(MelWeightMatrix, EdgesOutsideTheSpectrumAreErrors) {
  const auto i = [](int64_t v) { return ints(DType::i64, {}, {v}); };
  const auto f = [](double v) { return as(DType::f32, {}, {v}); };
  const Tensor y = run_op("mel_weight_matrix", {i(8), i(16), i(8192), f(0), f(8192 / 2)})[0];
  EXPECT_EQ(y.dims(), (Dims{9, 8}));
  EXPECT_THROW(run_op("mel_weight_matrix", {i(8), i(16), i(8192), f(0), f(1e9)}), Error);
  EXPECT_THROW(run_op("mel_weight_matrix", {i(8), i(16), i(0), f(0), f(100)}), Error);
  EXPECT_THROW(run_op("mel_weight_matrix", {i(INT64_MAX), i(16), i(8192), f(0), f(100)}), Error);
}

TEST(Losses, WeightsIgnoreIndexAndReductions) {
  const Tensor x = floats({2, 3}, {-1, -2, -3, -4, -5, -6}), labels = i64s({2, 0}), w = floats({1, 1, 3});
  const auto by = [](const char* reduction) { return attributes({{"reduction", std::string(reduction)}}); };
  EXPECT_EQ(reals("nll_loss", {x, labels}, by("none")), (Reals{3, 4}));
  EXPECT_EQ(reals("nll_loss", {x, labels, w}, by("sum")), (Reals{13}));
  EXPECT_EQ(reals("nll_loss", {x, labels, w}), (Reals{13 / 4.0}));
  EXPECT_EQ(reals("nll_loss", {x, i64s({-100, 0}), w}, attributes({{"ignore_index", int64_t{-100}}})), (Reals{4}));
  EXPECT_THROW(run_op("nll_loss", {x, i64s({3, 0})}), Error);
  EXPECT_THROW(run_op("nll_loss", {x, i64s({-1, 0})}), Error);
  const auto y = run_op("softmax_cross_entropy_loss", {floats({1, 2}, {1000, 1000}), i64s({1})}, {}, 2);
  expect_near(y[0].f64_values(), {std::log(2.0)}, 1e-6);
  expect_near(y[1].f64_values(), {-std::log(2.0), -std::log(2.0)}, 1e-6);
}

TEST(Optimizers, OneStepByHand) {
  const Tensor rate = as(DType::f32, {}, {0.1}), t = as(DType::i64, {}, {1}), x = floats({1}), g = floats({2}),
               v = floats({3}), h = floats({4});
  expect_near(run_op("adagrad", {rate, t, x, g, h}, {}, 2)[0].f64_values(), {1 - 0.1 * 2 / std::sqrt(8.0)}, 1e-6);
  const Attrs momentum =
      attributes({{"alpha", 0.5}, {"beta", 1.0}, {"norm_coefficient", 0.0}, {"mode", std::string("nesterov")}});
  const auto m = run_op("momentum", {rate, t, x, g, v}, momentum, 2);
  expect_near(m[0].f64_values(), {1 - 0.1 * (2 + 0.5 * 3.5)}, 1e-6);
  expect_near(m[1].f64_values(), {3.5}, 1e-6);
  const double nv = 0.9 * 3 + 0.1 * 2, nh = 0.999 * 4 + 0.001 * 4, r = 0.1 * std::sqrt(1 - 0.999) / (1 - 0.9);
  const auto adam = run_op("adam", {rate, t, x, g, v, h}, {}, 3);
  expect_near(adam[0].f64_values(), {1 - r * nv / (std::sqrt(nh) + 1e-6)}, 1e-6);
  expect_near(adam[2].f64_values(), {nh}, 1e-6);
  EXPECT_THROW(run_op("adam", {rate, t, x, g, v, h, h}, {}, 3), Error);
}

TEST(QLinear, DequantiseComputeQuantise) {
  const auto one = [](double v) { return as(DType::f32, {}, {v}); };
  const auto zero = [](int64_t v) { return ints(DType::u8, {}, {v}); };
  const Tensor a = ints(DType::u8, {2}, {10, 255}), b = ints(DType::u8, {1}, {20});
  EXPECT_EQ(integers("qlinear_add", {a, one(1), zero(10), b, one(0.5), zero(0), one(2), zero(1)}),
            (Integers{6, 128}));  // 5 + 1; 127.5 + 1 to even: 128, as onnxruntime
  EXPECT_EQ(integers("qlinear_mul", {a, one(1), zero(0), b, one(0.5), zero(0), one(10), Tensor()}),
            (Integers{10, 255}));
  EXPECT_EQ(integers("qlinear_leaky_relu", {a, one(1), zero(20), one(1), zero(5)}, attributes({{"alpha", 0.2}})),
            (Integers{3, 240}));
  EXPECT_EQ(integers("qlinear_sigmoid", {ints(DType::u8, {1}, {7}), one(1), zero(7), one(1 / 256.0), zero(0)}),
            (Integers{128}));
  EXPECT_EQ(integers("qlinear_concat", {one(2), zero(1), a, one(2), zero(10), b, one(1), zero(0)},
                     attributes({{"axis", int64_t{0}}})),
            (Integers{1, 246, 11}));
}

TEST(EmbedLayerNorm, SumsAndNormalises) {
  const Tensor ids = ints(DType::i32, {1, 2}, {1, 0}), table = floats({2, 2}, {1, 3, 5, 9}),
               position = floats({2, 2}, {0, 0, 2, 2});
  const Tensor gamma = floats({1, 2}), beta = floats({10, 20}), none, mask = ints(DType::i32, {1, 2}, {1, 0});
  const auto y = run_op("embed_layer_norm", {ids, none, table, position, none, gamma, beta, mask}, {}, 3);
  expect_near(y[0].f64_values(), {9, 22, 9, 22}, 1e-6);
  EXPECT_EQ(y[1].i64_values(), (Integers{1}));
  EXPECT_EQ(y[2].f64_values(), (Reals{5, 9, 3, 5}));
  EXPECT_THROW(
      run_op("embed_layer_norm", {ints(DType::i32, {1, 2}, {2, 0}), none, table, position, none, gamma, beta}, {}, 3),
      Error);
}

}  // namespace
}  // namespace trine
