// Normalisations by their definition, their gradients by formula and by finite differences of the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
using Values = std::vector<double>;

size_t index_of(const NormProblem& p, int64_t n, int64_t c, int64_t s) {
  return static_cast<size_t>(p.layout == Layout::nhwc ? (n * p.pixels + s) * p.channels + c
                                                      : (n * p.channels + c) * p.pixels + s);
}
size_t set_of(const NormProblem& p, int64_t n, int64_t c) {
  const int64_t width = p.channels_per_set();
  return static_cast<size_t>((p.kind == NormKind::batch ? 0 : n * (p.channels / width)) + c / width);
}

// body(index, n, c) over all elements.
template <class Body>
void for_elements(const NormProblem& p, Body body) {
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t c = 0; c < p.channels; ++c)
      for (int64_t s = 0; s < p.pixels; ++s) body(index_of(p, n, c, s), n, c);
}

struct Stats {
  Values mean, variance, count, largest;  // of sets; largest |x|
};
Stats stats_of(const NormProblem& p, const Values& x) {
  const auto sets = static_cast<size_t>(p.sets());
  Stats s{Values(sets), Values(sets), Values(sets), Values(sets)};
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c);
    s.mean[set] += x[i], ++s.count[set], s.largest[set] = std::max(s.largest[set], std::abs(x[i]));
  });
  for (size_t set = 0; set < sets; ++set)
    s.mean[set] = p.kind == NormKind::rms || !s.count[set] ? 0 : s.mean[set] / s.count[set];
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c);
    s.variance[set] += (x[i] - s.mean[set]) * (x[i] - s.mean[set]) / s.count[set];
  });
  return s;
}

// What a call is given: the statistics in use.
Stats used_stats(const NormProblem& p, const Values& x, const Values& running) {
  Stats s = stats_of(p, x);
  if (!p.uses_running()) return s;
  for (size_t set = 0; set < s.mean.size(); ++set)
    s.mean[set] = running[set], s.variance[set] = running[s.mean.size() + set];
  return s;
}

double at_or(const Values& v, size_t i, double absent) { return v.empty() ? absent : v[i]; }

Values forward(const NormProblem& p, const Values& x, const Values& scale, const Values& shift, const Values& z,
               const Values& running) {
  const Stats s = used_stats(p, x, running);
  Values y(x.size());
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c), channel = static_cast<size_t>(c);
    y[i] = (x[i] - s.mean[set]) / std::sqrt(s.variance[set] + p.epsilon) * at_or(scale, channel, 1) +
           at_or(shift, channel, 0) + at_or(z, i, 0);
    if (p.relu && y[i] < 0) y[i] = 0;
  });
  return y;
}

Values wide(const Floats& v) { return {v.begin(), v.end()}; }

// Error of xhat beside its own rounding: the mean is rounded, sums err by blocks of 1024.
double error_of_xhat(const Stats& s, size_t set, double epsilon, double xhat) {
  const double deviation = std::sqrt(s.variance[set] + epsilon);
  return kEps * (64 * std::abs(xhat) + 80 * (s.largest[set] / deviation) * (1 + std::abs(xhat)));
}

Expected forward_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<NormProblem>(problem);
  const Values x = wide(data.in[0]), scale = wide(data.in[1]), shift = wide(data.in[2]), z = wide(data.residual);
  const Values running = wide(data.in[3]);
  const Stats s = used_stats(p, x, running);
  Expected e;
  e.out[0] = forward(p, x, scale, shift, z, running);
  e.bound[0].resize(x.size());
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c), channel = static_cast<size_t>(c);
    const double xhat = (x[i] - s.mean[set]) / std::sqrt(s.variance[set] + p.epsilon), g = at_or(scale, channel, 1);
    e.bound[0][i] = std::abs(g) * error_of_xhat(s, set, p.epsilon, xhat) +
                    8 * kEps * (std::abs(g * xhat) + std::abs(at_or(shift, channel, 0)) + std::abs(at_or(z, i, 0)));
  });
  const size_t sets = s.mean.size();
  if (!p.uses_running()) {
    for (size_t i = 0; i < 2 * sets; ++i) {
      const size_t set = i % sets;
      const double deviation = std::sqrt(s.variance[set] + p.epsilon);
      e.out[1].push_back(i < sets ? s.mean[set] : 1 / deviation);
      e.bound[1].push_back(
          32 * kEps *
          (i < sets ? s.largest[set] : (1 + s.largest[set] * s.largest[set] / (deviation * deviation)) / deviation));
    }
  }
  if (p.kind == NormKind::batch && p.training)
    for (size_t i = 0; i < 2 * sets; ++i) {
      const size_t set = i % sets;
      const double count = s.count[set], f = count ? p.momentum : 0;
      const double fresh = i < sets ? s.mean[set] : s.variance[set] * (count > 1 ? count / (count - 1) : 1);
      e.out[2].push_back((1 - f) * running[i] + f * fresh);
      e.bound[2].push_back(64 * kEps * (std::abs(running[i]) + s.largest[set] * (1 + 2 * s.largest[set])));
    }
  return e;
}

struct Gradients {
  Values dx, dscale, dshift, dz;
};
Gradients backward(const NormProblem& p, const Values& x, const Values& dy, const Values& scale, const Values& y,
                   const Values& running) {
  const Stats s = used_stats(p, x, running);
  const auto channels = static_cast<size_t>(p.channels);
  Gradients g{Values(x.size()), Values(channels), Values(channels), Values(x.size())};
  Values h(s.mean.size()), hx(s.mean.size()), xhat(x.size());
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c), channel = static_cast<size_t>(c);
    xhat[i] = (x[i] - s.mean[set]) / std::sqrt(s.variance[set] + p.epsilon);
    g.dz[i] = p.relu && y[i] <= 0 ? 0 : dy[i];
    g.dshift[channel] += g.dz[i], g.dscale[channel] += g.dz[i] * xhat[i];
    h[set] += g.dz[i] * at_or(scale, channel, 1) / s.count[set];
    hx[set] += g.dz[i] * at_or(scale, channel, 1) * xhat[i] / s.count[set];
  });
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c);
    double d = g.dz[i] * at_or(scale, static_cast<size_t>(c), 1);
    if (!p.uses_running()) d -= (p.kind == NormKind::rms ? 0 : h[set]) + xhat[i] * hx[set];
    g.dx[i] = d / std::sqrt(s.variance[set] + p.epsilon);
  });
  return g;
}

Expected backward_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<NormProblem>(problem);
  const Values x = wide(data.in[0]), dy = wide(data.in[1]), scale = wide(data.in[2]), running = wide(data.in[3]);
  const Gradients g = backward(p, x, dy, scale, wide(data.in[4]), running);
  const Stats s = used_stats(p, x, running);
  double most_dy = 0, most_scale = scale.empty() ? 1 : 0, most_xhat = 1;
  for (double v : dy) most_dy = std::max(most_dy, std::abs(v));
  for (double v : scale) most_scale = std::max(most_scale, std::abs(v));
  Values error(s.mean.size());
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c);
    const double xhat = (x[i] - s.mean[set]) / std::sqrt(s.variance[set] + p.epsilon);
    most_xhat = std::max(most_xhat, std::abs(xhat));
    error[set] = std::max(error[set], error_of_xhat(s, set, p.epsilon, xhat) + 64 * kEps * (1 + std::abs(xhat)));
  });
  double worst = 0;
  for (double v : error) worst = std::max(worst, v);
  Expected e;
  e.out[0] = g.dx, e.bound[0].resize(x.size());
  for_elements(p, [&](size_t i, int64_t n, int64_t c) {
    const size_t set = set_of(p, n, c);
    e.bound[0][i] = 4 * error[set] * most_dy * most_scale * most_xhat / std::sqrt(s.variance[set] + p.epsilon);
  });
  const double terms = static_cast<double>(p.n * p.pixels);
  if (p.scale)
    e.out[1] = g.dscale, e.bound[1].assign(g.dscale.size(), (worst + 280 * kEps * most_xhat) * most_dy * terms);
  if (p.shift) e.out[2] = g.dshift, e.bound[2].assign(g.dshift.size(), 280 * kEps * most_dy * terms);
  if (p.add) e.out[3] = g.dz, e.bound[3].assign(g.dz.size(), 0);
  return e;
}

void make_positive(Floats& v, size_t first) {
  for (size_t i = first; i < v.size(); ++i) v[i] = std::abs(v[i]) + 0.2f;
}

// The forward pass's results become the gradient's inputs.
void make_saved(const NormProblem& p, Data& data) {
  const auto sets = static_cast<size_t>(p.sets());
  if (p.uses_running()) return make_positive(data.in[3], sets);
  const Stats s = stats_of(p, wide(data.in[0]));
  for (size_t set = 0; set < sets; ++set) {
    data.in[3][set] = static_cast<float>(s.mean[set]);
    data.in[3][sets + set] = static_cast<float>(1 / std::sqrt(s.variance[set] + p.epsilon));
  }
}

void check(NormProblem p) {
  p.pass = Pass::forward;
  const auto positive = [&](Data& d) {
    if (p.kind == NormKind::batch) make_positive(d.in[3], static_cast<size_t>(p.channels));
  };
  check_rows(p, forward_oracle, {.integers = false, .adjust = positive});
  p.pass = Pass::backward;
  check_rows(p, backward_oracle, {.integers = false, .adjust = [&](Data& d) { make_saved(p, d); }});
}

constexpr NormKind kKinds[] = {NormKind::batch, NormKind::instance, NormKind::group, NormKind::layer, NormKind::rms};

NormProblem problem_of(NormKind kind, int64_t n, int64_t channels, int64_t pixels, Layout layout) {
  NormProblem p;
  p.kind = kind, p.n = n, p.channels = channels, p.pixels = pixels, p.layout = layout,
  p.training = kind == NormKind::batch;
  p.groups = kind == NormKind::group ? (channels % 3 == 0 ? 3 : 1) : 1;
  p.epsilon = 0.01f, p.momentum = 0.3f;
  return p;
}

TEST(Norm, Shapes) {
  for (NormKind kind : kKinds)
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (auto [n, channels, pixels] : {std::array<int64_t, 3>{2, 3, 5},
                                         {3, 18, 49},
                                         {2, 66, 9},
                                         {1, 5, 2001},
                                         {300, 6, 1},
                                         {4, 129, 1},
                                         {5, 1, 7},
                                         {2, 1500, 1}})
        check(problem_of(kind, n, channels, pixels, layout));
}

TEST(Norm, Options) {
  for (NormKind kind : kKinds)
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (int64_t pixels : {1, 25})
        for (int options = 0; options < 16; ++options) {
          NormProblem p = problem_of(kind, 3, 21, pixels, layout);
          p.scale = options & 1, p.shift = options & 2, p.add = options & 4, p.relu = options & 8;
          check(p);
        }
}

TEST(Norm, InferenceUsesRunningStatistics) {
  for (Layout layout : {Layout::nhwc, Layout::nchw})
    for (int64_t pixels : {1, 30})
      for (bool relu : {false, true}) {
        NormProblem p = problem_of(NormKind::batch, 3, 21, pixels, layout);
        p.training = false, p.relu = p.add = relu;
        check(p);
      }
}

TEST(Norm, OfNothing) {
  for (NormKind kind : kKinds)
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      NormProblem p = problem_of(kind, 0, 6, 4, layout);
      check_rows(p, forward_oracle, {.integers = false});
    }
}

// A large mean: the variance is not the difference of two large numbers.
TEST(Norm, OfDataFarFromZero) {
  for (NormKind kind : {NormKind::batch, NormKind::instance, NormKind::group, NormKind::layer})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      check_rows(problem_of(kind, 4, 12, 100, layout), forward_oracle, {.integers = false, .adjust = [](Data& d) {
                                                                          for (float& x : d.in[0]) x += 1000;
                                                                          if (!d.in[3].empty())
                                                                            make_positive(d.in[3], 12);
                                                                        }});
}

TEST(Norm, NanStaysInItsSet) {
  for (NormKind kind : kKinds)
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      NormProblem p = problem_of(kind, 2, 6, 40, layout);
      p.relu = true;
      check_rows(p,
                 [](const Problem& problem, const Data& data) {
                   Expected e = forward_oracle(problem, data);
                   for (auto& bounds : e.bound)
                     for (double& b : bounds) b = std::isnan(b) ? 0 : b;
                   return e;
                 },
                 {.integers = false, .adjust = [](Data& d) { d.in[0][100] = NAN; }});
    }
}

TEST(Norm, GradientsAreThoseOfFiniteDifferences) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<double> normal;
  const auto values = [&](size_t n) {
    Values v(n);
    for (double& x : v) x = normal(random);
    return v;
  };
  for (NormKind kind : kKinds)
    for (bool training : {false, true}) {
      NormProblem p = problem_of(kind, 2, 3, 4, Layout::nchw);
      p.training = training && kind == NormKind::batch, p.relu = true, p.add = true;
      Values operands[4] = {values(24), values(3), values(3), values(24)}, dy = values(24),
             running = {0.3, -1, 0, 1, 2, 0.5};
      const auto loss = [&] {
        const Values y = forward(p, operands[0], operands[1], operands[2], operands[3], running);
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
        return sum;
      };
      const Values y = forward(p, operands[0], operands[1], operands[2], operands[3], running);
      const Gradients g = backward(p, operands[0], dy, operands[1], y, running);
      const Values* gradients[4] = {&g.dx, &g.dscale, &g.dshift, &g.dz};
      for (int k = 0; k < 4; ++k)
        for (size_t i = 0; i < operands[k].size(); ++i) {
          const double kept = operands[k][i], h = 1e-6;
          operands[k][i] = kept + h;
          const double high = loss();
          operands[k][i] = kept - h;
          const double low = loss();
          operands[k][i] = kept;
          EXPECT_NEAR((*gradients[k])[i], (high - low) / (2 * h), 1e-5)
              << "operand " << k << " of kind " << static_cast<int>(kind);
        }
    }
}

}  // namespace
}  // namespace trine::dnn::test
