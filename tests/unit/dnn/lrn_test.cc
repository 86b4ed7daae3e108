#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
using Values = std::vector<double>;

struct Place {
  int64_t n, c, z, y, x;
};
int64_t index_of(const LrnProblem& p, const Place& at) {
  const int64_t pixel = (at.z * p.image[1] + at.y) * p.image[2] + at.x, pixels = p.image[0] * p.image[1] * p.image[2];
  return p.layout == Layout::nhwc ? (at.n * pixels + pixel) * p.channels + at.c
                                  : (at.n * p.channels + at.c) * pixels + pixel;
}

// body(element, other): `other` runs over the window of `element`.
template <class Body>
void for_windows(const LrnProblem& p, Body body) {
  const int64_t before = (p.size - 1) / 2, after = p.size - 1 - before;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t c = 0; c < p.channels; ++c)
      for (int64_t i = 0; i < p.image[0] * p.image[1] * p.image[2]; ++i) {
        const Place at{n, c, i / (p.image[1] * p.image[2]), i / p.image[2] % p.image[1], i % p.image[2]};
        for (int64_t a = -before; a <= after; ++a)
          for (int64_t b = p.within ? -before : 0; b <= (p.within ? after : 0); ++b) {
            Place other = at;
            p.within ? (other.y += a, other.x += b) : other.c += a;
            if (other.c >= 0 && other.c < p.channels && other.y >= 0 && other.y < p.image[1] && other.x >= 0 &&
                other.x < p.image[2])
              body(static_cast<size_t>(index_of(p, at)), static_cast<size_t>(index_of(p, other)));
          }
      }
}

double scale_of(const LrnProblem& p) { return p.alpha / static_cast<double>(p.within ? p.size * p.size : p.size); }

Values denominators(const LrnProblem& p, const Values& x) {
  Values d(x.size(), p.k);
  for_windows(p, [&](size_t i, size_t j) { d[i] += scale_of(p) * x[j] * x[j]; });
  return d;
}
Values forward(const LrnProblem& p, const Values& x) {
  Values d = denominators(p, x), y;
  for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * std::pow(d[i], -static_cast<double>(p.beta)));
  return y;
}
// Of y_i by x_j: -2 beta scale x_i x_j d_i^(-beta - 1), and d_i^-beta when i is j.
Values backward(const LrnProblem& p, const Values& x, const Values& dy, Values& magnitude) {
  const Values d = denominators(p, x);
  const double beta = p.beta;
  Values dx(x.size());
  magnitude.assign(x.size(), 0);
  for (size_t i = 0; i < x.size(); ++i) dx[i] = dy[i] * std::pow(d[i], -beta), magnitude[i] = std::abs(dx[i]);
  for_windows(p, [&](size_t i, size_t j) {
    const double term = 2 * beta * scale_of(p) * dy[i] * x[i] * x[j] * std::pow(d[i], -beta - 1);
    dx[j] -= term, magnitude[j] += std::abs(term);
  });
  return dx;
}

Expected lrn_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<LrnProblem>(problem);
  const Values x(data.in[0].begin(), data.in[0].end()), dy(data.in[1].begin(), data.in[1].end());
  Expected e;
  Values magnitude;
  e.out[0] = p.pass == Pass::forward ? forward(p, x) : backward(p, x, dy, magnitude);
  // A power errs by the error of beta * log d, and sums by their terms.
  const auto terms = static_cast<double>(p.within ? p.size * p.size : p.size);
  for (size_t i = 0; i < x.size(); ++i)
    e.bound[0].push_back(kEps * (2 * terms + 60) * (p.pass == Pass::forward ? std::abs(e.out[0][i]) : magnitude[i]));
  return e;
}

void check(LrnProblem p, const Options& options = {.integers = false}) {
  for (Layout layout : {Layout::nhwc, Layout::nchw})
    for (Pass pass : {Pass::forward, Pass::backward}) {
      p.layout = layout, p.pass = pass;
      check_rows(p, lrn_oracle, options);
    }
}

TEST(Lrn, Shapes) {
  for (bool within : {false, true})
    for (int64_t size : {1, 2, 3, 4, 5, 7})
      for (int64_t channels : {1, 3, 16, 37}) {
        LrnProblem p{.within = within, .n = 2, .channels = channels, .image = {2, 5, 6}, .size = size};
        p.alpha = 0.7f, p.beta = size % 2 ? 0.75f : 1.3f, p.k = size % 3 ? 2.f : 0.5f;
        check(p);
      }
}

TEST(Lrn, OfNothing) { check({.n = 0, .channels = 5, .image = {1, 3, 3}}); }

TEST(Lrn, NanStaysInItsWindows) {
  for (bool within : {false, true})
    check({.within = within, .n = 1, .channels = 9, .image = {1, 5, 5}, .size = 3},
          {.integers = false, .adjust = [](Data& d) { d.in[0][112] = NAN; }});
}

TEST(Lrn, GradientIsThatOfFiniteDifferences) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<double> normal;
  for (bool within : {false, true}) {
    const LrnProblem p{.within = within, .channels = 4, .image = {1, 3, 3}, .size = 4, .alpha = 0.9f, .k = 1};
    Values x(36), dy(36), magnitude;
    for (size_t i = 0; i < 36; ++i) x[i] = normal(random), dy[i] = normal(random);
    const Values dx = backward(p, x, dy, magnitude);
    for (size_t i = 0; i < 36; ++i) {
      Values high = x, low = x;
      high[i] += 1e-5, low[i] -= 1e-5;
      const Values a = forward(p, high), b = forward(p, low);
      double want = 0;
      for (size_t j = 0; j < 36; ++j) want += dy[j] * (a[j] - b[j]) / 2e-5;
      EXPECT_NEAR(dx[i], want, 1e-6);
    }
  }
}

}  // namespace
}  // namespace trine::dnn::test
