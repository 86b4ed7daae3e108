#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
using Values = std::vector<double>;

// One line along the axis.
Values softmax(SoftmaxKind kind, const Values& x) {
  double most = -INFINITY, sum = 0;
  for (double v : x) most = std::max(most, v);
  if (std::isinf(most) && most < 0) most = 0;
  for (double v : x) sum += std::exp(v - most);
  Values y;
  for (double v : x)
    y.push_back(kind == SoftmaxKind::log ? (sum == 0 ? -INFINITY : v - most - std::log(sum))
                : sum == 0               ? 0
                                         : std::exp(v - most) / sum);
  return y;
}

Values gradient(SoftmaxKind kind, const Values& y, const Values& dy) {
  const bool is_log = kind == SoftmaxKind::log;
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += is_log ? dy[i] : y[i] * dy[i];
  Values dx;
  for (size_t i = 0; i < y.size(); ++i) dx.push_back(is_log ? dy[i] - std::exp(y[i]) * sum : y[i] * (dy[i] - sum));
  return dx;
}

// exp of a rounded difference errs by the difference's rounding; sums by their terms.
double bound_of(const SoftmaxProblem& p, const Values& x, const Values& dy, size_t i) {
  const double terms = static_cast<double>(x.size()) + 16;
  if (p.pass == Pass::backward) {
    double sum = std::abs(dy[i]);
    for (size_t j = 0; j < x.size(); ++j) sum += std::abs(p.kind == SoftmaxKind::log ? dy[j] : x[j] * dy[j]);
    return 2 * terms * kEps * sum *
           (p.kind == SoftmaxKind::log ? std::exp(x[i]) * (1 + std::abs(x[i])) + 1 : std::abs(x[i]));
  }
  double spread = 0;
  for (double v : x)
    if (std::isfinite(v)) spread = std::max(spread, std::abs(v));
  const double relative = kEps * (terms + 8 + 4 * spread);
  return p.kind == SoftmaxKind::log ? relative + 4 * kEps * std::abs(x[i]) : relative * softmax(p.kind, x)[i] + 1e-38;
}

Expected softmax_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<SoftmaxProblem>(problem);
  Expected e;
  e.out[0].resize(data.in[0].size());
  e.bound[0].resize(data.in[0].size());
  for (int64_t line = 0; line < p.outer * p.inner; ++line) {
    const auto at = [&](int64_t a) {
      return static_cast<size_t>((line / p.inner * p.axis + a) * p.inner + line % p.inner);
    };
    Values x, dy;
    for (int64_t a = 0; a < p.axis; ++a) {
      x.push_back(data.in[0][at(a)]);
      if (p.pass == Pass::backward) dy.push_back(data.in[1][at(a)]);
    }
    const Values y = p.pass == Pass::forward ? softmax(p.kind, x) : gradient(p.kind, x, dy);
    for (size_t a = 0; a < x.size(); ++a) {
      e.out[0][at(static_cast<int64_t>(a))] = y[a];
      e.bound[0][at(static_cast<int64_t>(a))] = bound_of(p, x, dy, a);
    }
  }
  return e;
}

constexpr SoftmaxKind kKinds[] = {SoftmaxKind::accurate, SoftmaxKind::fast, SoftmaxKind::log};

// For gradients the input is a softmax.
void make_result(const SoftmaxProblem& p, Data& data) {
  const Expected y = softmax_oracle(SoftmaxProblem{p.kind, Pass::forward, p.outer, p.axis, p.inner}, data);
  for (size_t i = 0; i < y.out[0].size(); ++i) data.in[0][i] = static_cast<float>(y.out[0][i]);
}

void check(SoftmaxProblem p) {
  p.pass = Pass::forward;
  check_rows(p, softmax_oracle, {.integers = false});
  p.pass = Pass::backward;
  check_rows(p, softmax_oracle, {.integers = false, .adjust = [&](Data& d) { make_result(p, d); }});
}

TEST(Softmax, Shapes) {
  for (SoftmaxKind kind : kKinds)
    for (auto [outer, axis, inner] : {std::array<int64_t, 3>{3, 1, 1},
                                      {5, 7, 1},
                                      {2, 16, 1},
                                      {3, 1001, 1},
                                      {2, 10, 3},
                                      {3, 5, 49},
                                      {2, 21, 130},
                                      {0, 5, 1},
                                      {2, 0, 3},
                                      {2, 3, 0},
                                      {40, 300, 1}})
      check({kind, Pass::forward, outer, axis, inner});
}

TEST(Softmax, LargeValuesDoNotOverflow) {
  for (SoftmaxKind kind : {SoftmaxKind::accurate, SoftmaxKind::log})
    for (int64_t inner : {1, 20})
      check_rows(SoftmaxProblem{kind, Pass::forward, 2, 37, inner}, softmax_oracle,
                 {.integers = false, .adjust = [](Data& d) {
                    for (float& x : d.in[0]) x = x * 100 + 3000;
                  }});
}

TEST(Softmax, FastOverflows) {
  const KernelRow* row = rows_of(OpKind::softmax).back();
  float x[2] = {100, 0}, y[2];
  Args args;
  args.in[0] = x, args.out[0] = y;
  row->run(SoftmaxProblem{SoftmaxKind::fast, Pass::forward, 1, 2, 1}, args);
  EXPECT_FALSE(y[0] == 1);
}

// Lines 0 and 1 stay clean; of line 2 all is -infinity, of line 3 a part; line 4 has a NaN, line 5 +infinity.
TEST(Softmax, SpecialValues) {
  for (SoftmaxKind kind : kKinds)
    for (bool rows : {true, false}) {
      const SoftmaxProblem p{kind, Pass::forward, rows ? 6 : 1, 19, rows ? 1 : 6};
      const auto at = [&](int64_t line, int64_t a) { return static_cast<size_t>(rows ? line * 19 + a : a * 6 + line); };
      check_rows(p, softmax_oracle, {.integers = false, .adjust = [&](Data& d) {
                                       for (int64_t a = 0; a < 19; ++a) d.in[0][at(2, a)] = -INFINITY;
                                       d.in[0][at(3, 4)] = d.in[0][at(3, 18)] = -INFINITY;
                                       d.in[0][at(4, 3)] = NAN;
                                       if (kind == SoftmaxKind::accurate) d.in[0][at(5, 3)] = INFINITY;
                                     }});
    }
}

TEST(Softmax, GradientIsThatOfFiniteDifferences) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<double> normal;
  for (SoftmaxKind kind : kKinds) {
    Values x(9), dy(9);
    for (size_t i = 0; i < 9; ++i) x[i] = normal(random), dy[i] = normal(random);
    const Values dx = gradient(kind, softmax(kind, x), dy);
    for (size_t i = 0; i < 9; ++i) {
      Values high = x, low = x;
      high[i] += 1e-5, low[i] -= 1e-5;
      const Values a = softmax(kind, high), b = softmax(kind, low);
      double want = 0;
      for (size_t j = 0; j < 9; ++j) want += dy[j] * (a[j] - b[j]) / 2e-5;
      EXPECT_NEAR(dx[i], want, 1e-6);
    }
  }
}

}  // namespace
}  // namespace trine::dnn::test
