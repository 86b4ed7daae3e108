// Functions of one element and their gradients, binary operators with broadcasting, dropout.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/philox.h"
#include "check_rows.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
constexpr int kUnaries = static_cast<int>(Unary::error_function) + 1;

std::vector<Unary> unaries() {
  std::vector<Unary> all;
  for (int i = 0; i < kUnaries; ++i) all.push_back(static_cast<Unary>(i));
  return all;
}

ActivationProblem problem_of(Unary f, Pass pass, int64_t elements) {
  ActivationProblem p{.function = f, .pass = pass, .elements = elements, .alpha = 0.3f, .beta = 0.7f};
  if (f == Unary::clip) p.alpha = -1;
  if (f == Unary::clipped_relu) p.alpha = 1.5f;
  return p;
}

bool is_of_positive(Unary f) { return f == Unary::square_root || f == Unary::logarithm || f == Unary::reciprocal_root; }

// Whose gradients are made from y.
bool uses_y(Unary f) {
  switch (f) {
    case Unary::sigmoid:
    case Unary::tanh:
    case Unary::elu:
    case Unary::square_root:
    case Unary::exponential:
    case Unary::reciprocal:
    case Unary::reciprocal_root:
    case Unary::tangent: return true;
    default: return false;
  }
}

// Kernels of the smooth functions are good to a few ulp of 1 + |x| + |y|, the size of what cancels in them.
Expected activation_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<ActivationProblem>(problem);
  Expected e;
  for (size_t i = 0; i < static_cast<size_t>(p.elements); ++i) {
    const double x = data.in[0][i], y = apply(p.function, x, p.alpha, p.beta);
    if (p.pass == Pass::forward) {
      const bool overflows = std::isinf(static_cast<float>(y));
      e.out[0].push_back(overflows ? std::copysign(INFINITY, y) : y);
      e.bound[0].push_back(overflows ? 0 : 8 * kEps * (1 + std::abs(x) + std::abs(y)));
    } else {
      const double dy = data.in[2][i], slope = derivative(p.function, x, p.alpha, p.beta);
      e.out[0].push_back(dy * slope);
      // y comes rounded, so y * (1 - y) and 1 / y err by as much.
      e.bound[0].push_back(16 * kEps * std::abs(dy) * (1 + std::abs(x) + std::abs(slope) + 0.25 / (y * y + 0.01)));
      if (uses_y(p.function))
        e.bound[0].back() += std::abs(dy) * std::abs(data.in[1][i] - y) *
                             (1 + 4 * std::abs(y) + 1 / (y * y + 1e-9) + std::abs(slope / (y == 0 ? 1 : y)));
    }
  }
  return e;
}

void prepare(const ActivationProblem& p, Data& data) {
  for (float& x : data.in[0])
    if (is_of_positive(p.function)) x = std::abs(x) + 0.25f;
  for (size_t i = 0; i < data.in[1].size(); ++i)
    data.in[1][i] = static_cast<float>(apply(p.function, data.in[0][i], p.alpha, p.beta));
}

TEST(Pointwise, FunctionsAndGradients) {
  for (Unary f : unaries())
    for (Pass pass : {Pass::forward, Pass::backward})
      for (int64_t elements : {0, 1, 7, 16, 67, 9000}) {
        const ActivationProblem p = problem_of(f, pass, elements);
        check_rows(p, activation_oracle,
                   {.integers = false, .adjust = [&](Data& d) { prepare(p, d); }, .least_rows = 1});
      }
}

TEST(Pointwise, ArgumentsOfAnySize) {
  for (Unary f : unaries())
    for (Pass pass : {Pass::forward, Pass::backward}) {
      const ActivationProblem p = problem_of(f, pass, 161);
      const auto spread = [&](Data& d) {
        for (size_t i = 0; i < 161; ++i) d.in[0][i] = (static_cast<float>(i) - 80) * 0.5f;
        prepare(p, d);
      };
      check_rows(p, activation_oracle, {.integers = false, .adjust = spread, .narrow = !uses_y(f)});
    }
}

// Exact where nothing is rounded: at the corners, the gradient is that of the lesser side.
TEST(Pointwise, CornersAreStated) {
  const auto corners = [](Data& d) { d.in[0] = {-1, 0, 1.5f, 0.7f, -0.f, -3, 3, NAN}; };
  for (Unary f : {Unary::relu, Unary::clip, Unary::leaky_relu, Unary::clipped_relu, Unary::hardswish}) {
    const ActivationProblem p = problem_of(f, Pass::backward, 8);
    check_rows(p,
               [&](const Problem& problem, const Data& data) {
                 Expected e = activation_oracle(problem, data);
                 e.out[0][7] = data.in[2][7];  // a comparison with NaN does not stop the gradient
                 if (f == Unary::hardswish) e.out[0][7] = NAN;
                 return e;
               },
               {.integers = false, .adjust = corners});
  }
}

TEST(Pointwise, EightBitIntegersSaturate) {
  for (Unary f : {Unary::none, Unary::relu, Unary::clip, Unary::clipped_relu, Unary::absolute, Unary::negate,
                  Unary::leaky_relu, Unary::logical_not, Unary::exponential})
    for (int64_t elements : {1, 70, 5000})
      check_rows(problem_of(f, Pass::forward, elements), activation_oracle, {.integers = false});
}

TEST(Pointwise, NanStays) {
  for (Unary f : unaries()) {
    const ActivationProblem p = problem_of(f, Pass::forward, 37);
    check_rows(p, activation_oracle,
               {.integers = false, .adjust = [&](Data& d) { prepare(p, d), d.in[0][3] = d.in[0][36] = NAN; }});
  }
}

TEST(Pointwise, DerivativesAreThoseOfFiniteDifferences) {
  for (Unary f : unaries()) {
    const ActivationProblem p = problem_of(f, Pass::forward, 1);
    for (double x = is_of_positive(f) ? 0.1 : -4.93; x < 5; x += 0.1) {
      const double h = 1e-5;
      const double want = (apply(f, x + h, p.alpha, p.beta) - apply(f, x - h, p.alpha, p.beta)) / (2 * h);
      EXPECT_NEAR(derivative(f, x, p.alpha, p.beta), want, 1e-6 + 1e-7 * want * want) << name(f) << " at " << x;
    }
  }
}

Expected binary_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<BinaryProblem>(problem);
  Expected e;
  for (size_t i = 0; i < data.in[0].size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), b_at = 0, stride = 1;
    for (size_t d = 0; d < p.dims.size(); ++d) {
      const int64_t size = p.dims[p.dims.size() - 1 - d], at = rest % size;
      rest /= size;
      if (d >= p.b_dims.size()) continue;
      const int64_t b_size = p.b_dims[p.b_dims.size() - 1 - d];
      b_at += (b_size == 1 ? 0 : at) * stride;
      stride *= b_size;
    }
    const double a = static_cast<double>(p.alpha1) * data.in[0][i];
    const double b = static_cast<double>(p.alpha2) * data.in[1][static_cast<size_t>(b_at)];
    const bool selects = p.op == Binary::select;
    const double c = p.beta == 0 || selects ? 0 : static_cast<double>(p.beta) * data.in[2][i];
    const double y = apply(p.op, a, b, selects ? data.in[2][i] : 0);
    e.out[0].push_back(y + c);
    e.bound[0].push_back(4 * kEps * (std::abs(a) + std::abs(b) + 2 * std::abs(y) + std::abs(c)));
    // Operands are rounded products with alphas: of a power and of a square that counts as often as they are factors.
    if (p.op == Binary::power) e.bound[0].back() += 4 * kEps * std::abs(y * b) * (1 + std::abs(std::log(std::abs(a))));
    if (p.op == Binary::add_square) e.bound[0].back() += 4 * kEps * b * b;
  }
  return e;
}

std::vector<Binary> binaries() {
  std::vector<Binary> all;
  for (int i = 0; i <= static_cast<int>(Binary::select); ++i) all.push_back(static_cast<Binary>(i));
  return all;
}

// Whether small integers give exact results.
bool is_exact(Binary op) { return op != Binary::div && op != Binary::power && op != Binary::arctangent; }

TEST(Binary, BroadcastsB) {
  const std::pair<Dims, Dims> shapes[] = {
      {{5}, {5}},          {{}, {}},       {{3, 4, 5}, {4, 1}},    {{2, 17, 9}, {17, 9}}, {{2, 3, 33}, {1, 3, 1}},
      {{2, 9000}, {9000}}, {{10000}, {1}}, {{3, 2, 5}, {3, 1, 5}}, {{0, 4}, {4}},         {{2, 3, 4, 5}, {2, 1, 4, 1}}};
  for (Binary op : binaries())
    for (const auto& [dims, b_dims] : shapes) {
      const auto adjust = [&](Data& d) {
        if (op == Binary::power)
          for (float& a : d.in[0]) a = std::abs(a) + 0.25f;
        if (op == Binary::remainder)
          for (int i = 0; i < 2; ++i)
            for (float& x : d.in[i]) x = std::rint(x) + (i == 1 && std::rint(x) == 0 ? 1 : 0);
      };
      const bool is_odd = op == Binary::power || op == Binary::remainder;
      for (const BinaryProblem& p : {BinaryProblem{op, dims, b_dims}, BinaryProblem{op, dims, b_dims, 2, -3, 0.5f}}) {
        if (op == Binary::power && p.alpha2 < 0) continue;  // large powers of small numbers
        check_rows(p, binary_oracle,
                   {.integers = is_exact(op), .adjust = is_odd ? adjust : std::function<void(Data&)>()});
      }
    }
}

TEST(Binary, NanStays) {
  for (Binary op : binaries())
    check_rows(BinaryProblem{op, {21}, {21}}, binary_oracle, {.integers = false, .adjust = [&](Data& d) {
                                                                if (op == Binary::power)
                                                                  for (float& a : d.in[0]) a = std::abs(a) + 0.25f;
                                                                d.in[0][2] = d.in[1][5] = d.in[1][20] = NAN;
                                                              }});
}

TEST(Binary, RefusesWhatDoesNotBroadcast) {
  EXPECT_EQ(find(BinaryProblem{Binary::add, {4}, {3}}).best(), nullptr);
  EXPECT_EQ(find(BinaryProblem{Binary::add, {4}, {1, 4}}).best(), nullptr);
}

Expected dropout_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<DropoutProblem>(problem);
  const Philox philox(p.seed);
  Expected e;
  for (size_t i = 0; i < data.in[0].size(); ++i) {
    const uint32_t word = philox(p.offset + i / 4)[i % 4];
    const double y = word >= std::nearbyint(p.rate * 0x1p32) ? data.in[0][i] / (1 - p.rate) : 0;
    e.out[0].push_back(y);
    e.bound[0].push_back(2 * kEps * std::abs(y));
  }
  return e;
}

TEST(Dropout, KeepsWhatPhiloxSays) {
  for (double rate : {0.0, 0.1, 0.5, 0.75, 1.0})
    for (int64_t elements : {0, 1, 5, 63, 64, 65, 10001})
      check_rows(DropoutProblem{elements, rate, 0x123456789abcdefull, 0xfffffffeull}, dropout_oracle,
                 {.integers = rate == 0 || rate == 0.5 || rate == 0.75 || rate == 1});
}

TEST(Dropout, DropsNansToo) {
  check_rows(DropoutProblem{1000, 0.5, 7, 0},
             [](const Problem& problem, const Data& data) {
               Expected e = dropout_oracle(problem, data);
               for (size_t i = 0; i < 1000; ++i) EXPECT_TRUE(e.out[0][i] == 0 || std::isnan(e.out[0][i]));
               return e;
             },
             {.integers = false, .adjust = [](Data& d) { std::fill(d.in[0].begin(), d.in[0].end(), NAN); }});
}

// 0.3 of a million: off by more than 5 deviations of a binomial once in a million and a half.
TEST(Dropout, DropsAtItsRate) {
  const DropoutProblem p{1000000, 0.3, 42, 5};
  Floats x(1000000, 1.f), y(x.size());
  Primitive(p).run({.in = {x.data()}, .out = {y.data()}});
  const auto dropped = static_cast<double>(std::count(y.begin(), y.end(), 0.f));
  EXPECT_NEAR(dropped, 3e5, 5 * std::sqrt(1e6 * 0.3 * 0.7));
}

}  // namespace
}  // namespace trine::dnn::test
