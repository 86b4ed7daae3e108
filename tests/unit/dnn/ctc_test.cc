// CTC against sums of probabilities in f64, outside logarithms: every alignment one by one where there are few, else
// along the states. Gradients are central differences of that.
#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"
#include "trine/base/error.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

using Labels = std::vector<int32_t>;
using Rows = std::vector<std::vector<double>>;  // [step][class]

// What an alignment writes: repeats joined, then blanks left out.
Labels written(const Labels& alignment, int32_t blank) {
  Labels out;
  for (size_t i = 0; i < alignment.size(); ++i)
    if ((i == 0 || alignment[i] != alignment[i - 1]) && alignment[i] != blank) out.push_back(alignment[i]);
  return out;
}

double sum_of_alignments(const Rows& p, const Labels& labels, int32_t blank) {
  Labels alignment(p.size(), 0);
  double sum = 0;
  for (;;) {
    if (written(alignment, blank) == labels) {
      double product = 1;
      for (size_t t = 0; t < p.size(); ++t) product *= p[t][static_cast<size_t>(alignment[t])];
      sum += product;
    }
    size_t t = 0;
    while (t < p.size() && ++alignment[t] == static_cast<int32_t>(p[t].size())) alignment[t++] = 0;
    if (t == p.size()) return sum;
  }
}

// reached[i][j]: i labels written, the last symbol a blank (0) or the label (1).
double sum_along_states(const Rows& p, const Labels& labels, int32_t blank) {
  const size_t n = labels.size();
  std::vector<std::array<double, 2>> reached(n + 1, {0, 0});
  reached[0][0] = 1;
  for (const auto& row : p) {
    std::vector<std::array<double, 2>> next(n + 1, {0, 0});
    for (size_t i = 0; i <= n; ++i) {
      next[i][0] += (reached[i][0] + reached[i][1]) * row[static_cast<size_t>(blank)];
      if (i == 0) continue;
      const double in = row[static_cast<size_t>(labels[i - 1])];
      const bool repeat = i >= 2 && labels[i - 1] == labels[i - 2];
      next[i][1] += (reached[i][1] + reached[i - 1][0] + (repeat ? 0 : reached[i - 1][1])) * in;
    }
    reached = next;
  }
  return reached[n][0] + reached[n][1];
}

double probability(const Rows& p, const Labels& labels, int32_t blank) {
  const double alignments = p.empty() ? 1 : std::pow(static_cast<double>(p[0].size()), static_cast<double>(p.size()));
  return alignments <= 5000 ? sum_of_alignments(p, labels, blank) : sum_along_states(p, labels, blank);
}

Rows softmax(Rows x) {
  for (auto& row : x) {
    double sum = 0;
    for (double& v : row) sum += v = std::exp(v);
    for (double& v : row) v /= sum;
  }
  return x;
}

Expected ctc_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<CtcLossProblem>(problem);
  const auto blank = static_cast<int32_t>(p.blank);
  Expected e;
  for (int i : {0, 1}) e.out[i].assign(static_cast<size_t>(operand_sizes(problem).out[i]), 0);
  for (int i : {0, 1}) e.bound[i].assign(e.out[i].size(), 0);
  for (int64_t b = 0; b < p.batch; ++b) {
    const auto entry = static_cast<size_t>(b);
    const int32_t* first = data.integers[1].data() + b * p.max_label;
    const Labels labels(first, first + data.integers[3][entry]);
    const auto at = [&](size_t t, size_t k) {
      return (t * static_cast<size_t>(p.batch) + entry) * static_cast<size_t>(p.classes) + k;
    };
    Rows x(static_cast<size_t>(data.integers[2][entry]), std::vector<double>(static_cast<size_t>(p.classes)));
    for (size_t t = 0; t < x.size(); ++t)
      for (size_t k = 0; k < x[t].size(); ++k) x[t][k] = data.in[0][at(t, k)];
    const auto loss = [&] { return -std::log(probability(p.softmax ? softmax(x) : x, labels, blank)); };
    const double here = loss();
    const bool possible = std::isfinite(here);
    e.out[0][entry] = possible || !p.zero_infinity ? here : 0;
    e.bound[0][entry] = 4e-7 * std::abs(here) + 1e-7;
    for (size_t t = 0; possible && t < x.size(); ++t)
      for (size_t k = 0; k < x[t].size(); ++k) {
        const double step = p.softmax ? 1e-5 : 1e-5 * x[t][k], was = x[t][k];
        x[t][k] = was + step;
        const double above = loss();
        x[t][k] = was - step;
        const double below = loss();
        x[t][k] = was;
        e.out[1][at(t, k)] = (above - below) / (2 * step);
        e.bound[1][at(t, k)] = 1e-6 * (1 + std::abs(e.out[1][at(t, k)]));
      }
  }
  return e;
}

// Labels in order of the classes, repeating every third; lengths that vary.
void check(CtcLossProblem p, bool full = false) {
  for (bool softmax : {true, false}) {
    p.softmax = softmax;
    check_rows(p, ctc_oracle, {.integers = false, .adjust = [&](Data& d) {
                                 int32_t next = 0;
                                 for (size_t i = 0; i < d.integers[1].size(); ++i) {
                                   if (i % 3 != 2) next = static_cast<int32_t>((next + 1) % p.classes);
                                   if (next == p.blank) next = static_cast<int32_t>((next + 1) % p.classes);
                                   d.integers[1][i] = next;
                                 }
                                 for (int64_t b = 0; !full && b < p.batch; ++b) {
                                   const auto i = static_cast<size_t>(b);
                                   d.integers[2][i] = static_cast<int32_t>(std::max<int64_t>(p.steps - b, 0));
                                   d.integers[3][i] = static_cast<int32_t>(std::max<int64_t>(p.max_label - 2 * b, 0));
                                 }
                                 if (!softmax)
                                   for (float& x : d.in[0]) x = 1 / (1 + std::exp(-x)) / static_cast<float>(p.classes);
                               }});
  }
}

TEST(CtcLoss, IsTheSumOfAllAlignments) {
  for (int64_t steps : {1, 2, 4, 6})
    for (int64_t labels : {0, 1, 2, 3})
      for (int64_t blank : {0, 2})
        check({.steps = steps, .batch = 3, .classes = 4, .max_label = labels, .blank = blank});
}

TEST(CtcLoss, Longer) {
  check({.steps = 20, .batch = 4, .classes = 7, .max_label = 6});
  check({.steps = 31, .batch = 2, .classes = 40, .max_label = 15, .blank = 39}, true);
}

TEST(CtcLoss, TooFewStepsAreInfiniteOrZero) {
  for (bool zero : {false, true})
    check({.steps = 2, .batch = 2, .classes = 4, .max_label = 5, .zero_infinity = zero}, true);
}

TEST(CtcLoss, NoStepsNoBatch) {
  check({.steps = 0, .batch = 2, .classes = 3, .max_label = 1});
  check({.steps = 3, .batch = 0, .classes = 3, .max_label = 1}, true);
}

TEST(CtcLoss, ManyStepsDoNotUnderflow) {
  const CtcLossProblem p{.steps = 3000, .batch = 1, .classes = 2, .max_label = 1};
  const Floats x(6000, 0);  // every alignment has probability 2^-3000; there are 3000 * 3001 / 2
  const int32_t label = 1, steps = 3000, count = 1;
  float loss = 0;
  Primitive(p).run({.in = {x.data(), &label, &steps, &count}, .out = {&loss}});
  const double want = 3000 * std::log(2.0) - std::log(3000 * 3001 / 2.0);
  EXPECT_NEAR(loss, want, 1e-6 * want);
}

TEST(CtcLoss, NanIsSeenOnlyWhereItIsRead) {
  const CtcLossProblem p{.steps = 4, .batch = 1, .classes = 3, .max_label = 1};
  Floats x(12, 0.5f), dx(12);
  const int32_t label = 1, count = 1;
  x[11] = NAN;
  for (int32_t steps : {3, 4}) {
    float loss = 0;
    Primitive(p).run({.in = {x.data(), &label, &steps, &count}, .out = {&loss, dx.data()}});
    EXPECT_EQ(std::isnan(loss), steps == 4);
    EXPECT_EQ(std::isnan(dx[0]), steps == 4);
  }
}

TEST(CtcLoss, RefusesBadIntegers) {
  const CtcLossProblem p{.steps = 4, .batch = 1, .classes = 3, .max_label = 2};
  const Floats x(12, 0.5f);
  const auto run = [&](Labels labels, int32_t steps, int32_t count) {
    float loss = 0;
    Primitive(p).run({.in = {x.data(), labels.data(), &steps, &count}, .out = {&loss}});
  };
  EXPECT_NO_THROW(run({1, 2}, 4, 2));
  EXPECT_NO_THROW(run({1, 77}, 4, 1));  // past the label length
  EXPECT_THROW(run({1, 3}, 4, 2), Error);
  EXPECT_THROW(run({1, 0}, 4, 2), Error);
  EXPECT_THROW(run({1, 2}, 5, 2), Error);
  EXPECT_THROW(run({1, 2}, 4, 3), Error);
  EXPECT_THROW(run({1, 2}, -1, 2), Error);
}

}  // namespace
}  // namespace trine::dnn::test
