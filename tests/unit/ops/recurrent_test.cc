// RNN, GRU, LSTM: formulas by hand, directions, sequence lengths, layouts.
#include <algorithm>
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Tensor random_tensor(std::mt19937& random, Dims dims) {
  std::uniform_real_distribution<double> pick(-1, 1);
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = pick(random);
  return as(DType::f64, std::move(dims), values);
}

unsigned fresh_seed() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return seed;
}

// x [T,B,I] with time reversed
Tensor reversed(const Tensor& x) {
  const Reals v = x.f64_values();
  const int64_t row = x.dim(1) * x.dim(2);
  Reals y;
  for (int64_t t = x.dim(0); t-- > 0;) y.insert(y.end(), v.begin() + t * row, v.begin() + (t + 1) * row);
  return as(x.dtype(), x.dims(), y);
}

TEST(Rnn, OneStepByHand) {
  const Tensor x = as(DType::f64, {1, 1, 1}, {0.5}), w = as(DType::f64, {1, 1, 1}, {2}),
               r = as(DType::f64, {1, 1, 1}, {3});
  const Tensor b = as(DType::f64, {1, 2}, {0.25, -0.5}), h = as(DType::f64, {1, 1, 1}, {0.1});
  expect_near(run_op("rnn", {x, w, r, b, Tensor(), h}, {}, 2)[1].f64_values(), {std::tanh(1 + 0.25 + 0.3 - 0.5)},
              1e-15);
  const Attrs attrs = attributes({{"activations", std::vector<std::string>{"Affine"}},
                                  {"activation_alpha", Reals{2}},
                                  {"activation_beta", Reals{1}},
                                  {"clip", 0.5}});
  expect_near(run_op("rnn", {x, w, r, b, Tensor(), h}, attrs, 2)[1].f64_values(), {2}, 1e-15);  // 2 * clip(1.05) + 1
}

TEST(Gru, OneStepByHandBothWaysToReset) {
  const Tensor x = as(DType::f64, {1, 1, 1}, {0.5}), w = as(DType::f64, {1, 3, 1}, {1, 2, 3}),
               r = as(DType::f64, {1, 3, 1}, {0.3, 0.2, 0.7});
  const Tensor b = as(DType::f64, {1, 6}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}), h0 = as(DType::f64, {1, 1, 1}, {0.8});
  const double h = 0.8, z = sigmoid(0.5 + 0.1 + 0.3 * h + 0.4), reset = sigmoid(1 + 0.2 + 0.2 * h + 0.5);
  const double before = std::tanh(1.5 + 0.3 + 0.7 * (reset * h) + 0.6),
               after = std::tanh(1.5 + 0.3 + reset * (0.7 * h + 0.6));
  expect_near(run_op("gru", {x, w, r, b, Tensor(), h0}, {}, 2)[1].f64_values(), {(1 - z) * before + z * h}, 1e-15);
  expect_near(
      run_op("gru", {x, w, r, b, Tensor(), h0}, attributes({{"linear_before_reset", int64_t{1}}}), 2)[1].f64_values(),
      {(1 - z) * after + z * h}, 1e-15);
}

TEST(Lstm, OneStepByHandWithPeepholes) {
  const Tensor x = as(DType::f64, {1, 1, 1}, {0.5}), w = as(DType::f64, {1, 4, 1}, {1, 2, 3, 4}),
               r = as(DType::f64, {1, 4, 1}, {0.1, 0.2, 0.3, 0.4});
  const Tensor b = as(DType::f64, {1, 8}, {.1, .2, .3, .4, .5, .6, .7, .8}), h0 = as(DType::f64, {1, 1, 1}, {0.9}),
               c0 = as(DType::f64, {1, 1, 1}, {-0.6}), p = as(DType::f64, {1, 3}, {1.1, 1.2, 1.3});
  const double h = 0.9, c = -0.6;
  const double i = sigmoid(0.5 + 0.1 * h + 0.6 + 1.1 * c), f = sigmoid(1.5 + 0.3 * h + 1.0 + 1.3 * c),
               g = std::tanh(2 + 0.4 * h + 1.2);
  const double next = f * c + i * g, o = sigmoid(1 + 0.2 * h + 0.8 + 1.2 * next), coupled = (1 - i) * c + i * g;
  const auto y = run_op("lstm", {x, w, r, b, Tensor(), h0, c0, p}, {}, 3);
  expect_near(y[2].f64_values(), {next}, 1e-15);
  expect_near(y[1].f64_values(), {o * std::tanh(next)}, 1e-15);
  expect_near(
      run_op("lstm", {x, w, r, b, Tensor(), h0, c0, p}, attributes({{"input_forget", int64_t{1}}}), 3)[2].f64_values(),
      {coupled}, 1e-15);
}

TEST(Lstm, BidirectionalIsForwardBesideReverse) {
  std::mt19937 random(fresh_seed());
  const Tensor x = random_tensor(random, {5, 2, 3}), w = random_tensor(random, {2, 16, 3}),
               r = random_tensor(random, {2, 16, 4}), b = random_tensor(random, {2, 32});
  const auto half = [](const Tensor& t, int64_t which) {
    const Reals v = t.f64_values();
    Dims dims = t.dims();
    dims[0] = 1;
    const auto n = static_cast<std::ptrdiff_t>(v.size() / 2);
    return as(t.dtype(), dims, Reals(v.begin() + which * n, v.begin() + (which + 1) * n));
  };
  const auto both = run_op("lstm", {x, w, r, b}, attributes({{"direction", std::string("bidirectional")}}), 3);
  const auto forward = run_op("lstm", {x, half(w, 0), half(r, 0), half(b, 0)}, {}, 3);
  const auto backward = run_op("lstm", {reversed(x), half(w, 1), half(r, 1), half(b, 1)}, {}, 3);
  const auto reverse =
      run_op("lstm", {x, half(w, 1), half(r, 1), half(b, 1)}, attributes({{"direction", std::string("reverse")}}), 3);
  Reals states = forward[1].f64_values();
  for (double v : backward[1].f64_values()) states.push_back(v);
  EXPECT_EQ(both[1].f64_values(), states);
  EXPECT_EQ(reverse[2].f64_values(), backward[2].f64_values());
  ASSERT_EQ(both[0].dims(), (Dims{5, 2, 2, 4}));
  const Reals y = both[0].f64_values(), yb = backward[0].f64_values();
  for (int64_t k = 0; k < 8; ++k)
    EXPECT_EQ(y[static_cast<size_t>(8 + k)], yb[static_cast<size_t>(4 * 8 + k)]);  // t = 0 backward = last step
}

TEST(Gru, EachSequenceEndsAtItsOwnLength) {
  std::mt19937 random(fresh_seed());
  const Tensor w = random_tensor(random, {1, 6, 3}), r = random_tensor(random, {1, 6, 2}),
               x = random_tensor(random, {4, 1, 3});
  const Reals v = x.f64_values();
  const Tensor shorter = as(DType::f64, {2, 1, 3}, Reals(v.begin(), v.begin() + 6)),
               length = ints(DType::i32, {1}, {2});
  for (const char* direction : {"forward", "reverse"}) {
    const Attrs attrs = attributes({{"direction", std::string(direction)}});
    const auto cut = run_op("gru", {x, w, r, Tensor(), length}, attrs, 2),
               whole = run_op("gru", {shorter, w, r}, attrs, 2);
    EXPECT_EQ(cut[1].f64_values(), whole[1].f64_values());
    Reals want = whole[0].f64_values();
    want.resize(8, 0.0);
    EXPECT_EQ(cut[0].f64_values(), want);
  }
  EXPECT_THROW(run_op("gru", {x, w, r, Tensor(), ints(DType::i32, {1}, {5})}), Error);
  EXPECT_THROW(run_op("gru", {x, w, r, Tensor(), ints(DType::i32, {1}, {-1})}), Error);
}

TEST(Rnn, BatchFirstLayoutIsATranspose) {
  std::mt19937 random(fresh_seed());
  const Tensor w = random_tensor(random, {1, 2, 3}), r = random_tensor(random, {1, 2, 2}),
               x = random_tensor(random, {4, 1, 3});
  const auto time_first = run_op("rnn", {x, w, r}, {}, 2);
  const auto batch_first = run_op("rnn", {x.reshaped({1, 4, 3}), w, r}, attributes({{"layout", int64_t{1}}}), 2);
  EXPECT_EQ(batch_first[0].dims(), (Dims{1, 4, 1, 2}));
  EXPECT_EQ(batch_first[0].f64_values(), time_first[0].f64_values());
}

TEST(Recurrent, WrongOperandsAreErrors) {
  const Tensor x = as(DType::f32, {1, 1, 2}, {1, 2}), w = as(DType::f32, {1, 4, 2}, Reals(8, 1.0)),
               r = as(DType::f32, {1, 4, 1}, Reals(4, 1.0));
  EXPECT_NO_THROW(run_op("lstm", {x, w, r}));
  EXPECT_THROW(run_op("lstm", {x, r, r}), Error);
  EXPECT_THROW(run_op("lstm", {x, w, w}), Error);
  EXPECT_THROW(run_op("lstm", {x, w, r, as(DType::f32, {1, 4}, Reals(4, 1.0))}), Error);
  EXPECT_THROW(run_op("lstm", {x, w, r}, attributes({{"direction", std::string("sideways")}})), Error);
  EXPECT_THROW(
      run_op("lstm", {x, w, r}, attributes({{"activations", std::vector<std::string>{"Sigmoid", "Tanh", "Nonsense"}}})),
      Error);
}

TEST(DynamicQuantizeLstm, IsTheLstmOfItsDequantisedWeights) {
  const Tensor x = as(DType::f32, {2, 1, 1}, {0.5, -1}), w = ints(DType::i8, {1, 1, 4}, {1, 2, 3, 4}),
               r = ints(DType::i8, {1, 1, 4}, {5, 6, 7, 8});
  const Tensor scale = floats({1}, {0.5}), zero = ints(DType::i8, {1}, {1}), none;
  const auto quantised =
      run_op("dynamic_quantize_lstm", {x, w, r, none, none, none, none, none, scale, zero, scale, zero}, {}, 3);
  const auto plain =
      run_op("lstm", {x, floats({1, 4, 1}, {0, 0.5, 1, 1.5}), floats({1, 4, 1}, {2, 2.5, 3, 3.5})}, {}, 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(quantised[i].f64_values(), plain[i].f64_values());
}

}  // namespace
}  // namespace trine
