// Affine grids and sampling against f64. A sample is made as the sum over every pixel of its tent function, so nothing
// of the taps of the kernels is repeated here; gradients are differences of that.
#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
using Doubles = std::vector<double>;

int64_t volume(const Extents& e) { return e[0] * e[1] * e[2]; }

double to_pixels(double position, int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? (position + 1) / 2 * (n - 1) : ((position + 1) * n - 1) / 2;
}
double from_pixels(double x, int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  if (align_corners) return size == 1 ? -1 : 2 * x / (n - 1) - 1;
  return (2 * x + 1) / n - 1;
}

// How much pixel i of an axis counts at `position`.
double tent(const GridSampleProblem& p, double position, int64_t size, int64_t i) {
  double x = to_pixels(position, size, p.align_corners);
  if (p.sampling == GridSampling::nearest) x = std::nearbyint(x);
  const double last = static_cast<double>(size) - 1, low = p.align_corners ? 0 : -0.5;
  const double high = p.align_corners ? last : last + 0.5;
  if (p.padding == GridPadding::reflection) {
    if (high <= low) x = low;
    while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  }
  if (p.padding != GridPadding::zeros) x = std::min(std::max(x, 0.0), last);
  return std::max(0.0, 1 - std::abs(x - static_cast<double>(i)));
}

double weight(const GridSampleProblem& p, const double* grid, int64_t pixel) {
  double product = 1;
  for (int k = 0; k < p.axes; ++k) {
    const int64_t size = p.in[static_cast<size_t>(2 - k)];
    product *= tent(p, grid[k], size, pixel % size);
    pixel /= size;
  }
  return product;
}

size_t at(const GridSampleProblem& p, const Extents& e, int64_t n, int64_t pixel, int64_t c) {
  return static_cast<size_t>(p.layout == Layout::nhwc ? (n * volume(e) + pixel) * p.channels + c
                                                      : (n * p.channels + c) * volume(e) + pixel);
}

Expected sample_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<GridSampleProblem>(problem);
  const bool backward = p.pass == Pass::backward;
  Expected e;
  for (int i : {0, 1}) {
    e.out[i].assign(static_cast<size_t>(operand_sizes(problem).out[i]), 0);
    e.bound[i].assign(e.out[i].size(), 0);
  }
  const int64_t points = volume(p.out), pixels = volume(p.in);
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t point = 0; point < points; ++point) {
      const auto first = static_cast<size_t>((n * points + point) * p.axes);
      Doubles grid(data.in[1].begin() + static_cast<int64_t>(first),
                   data.in[1].begin() + static_cast<int64_t>(first) + p.axes);
      for (int64_t i = 0; i < pixels; ++i) {
        const double w = weight(p, grid.data(), i);
        double slope[3] = {};
        for (int k = 0; backward && p.sampling == GridSampling::linear && k < p.axes; ++k) {
          constexpr double kStep = 1e-6;
          const double was = grid[static_cast<size_t>(k)];
          grid[static_cast<size_t>(k)] = was + kStep;
          slope[k] = weight(p, grid.data(), i);
          grid[static_cast<size_t>(k)] = was - kStep;
          slope[k] = (slope[k] - weight(p, grid.data(), i)) / (2 * kStep);
          grid[static_cast<size_t>(k)] = was;
        }
        for (int64_t c = 0; c < p.channels; ++c) {
          const double x = data.in[0][at(p, p.in, n, i, c)];
          if (!backward) {
            const size_t o = at(p, p.out, n, point, c);
            e.out[0][o] += w * x;
            e.bound[0][o] += 32 * kEps * std::abs(w * x);
            continue;
          }
          const double dy = data.in[2][at(p, p.out, n, point, c)];
          e.out[0][at(p, p.in, n, i, c)] += w * dy;
          e.bound[0][at(p, p.in, n, i, c)] += 2 * static_cast<double>(points + 8) * kEps * std::abs(w * dy);
          for (int k = 0; k < p.axes; ++k) {
            e.out[1][first + static_cast<size_t>(k)] += slope[k] * x * dy;
            e.bound[1][first + static_cast<size_t>(k)] +=
                (static_cast<double>(p.channels + 16) * kEps * std::abs(slope[k]) + 1e-8) * std::abs(x * dy);
          }
        }
      }
    }
  return e;
}

// Moves positions off the kinks at whole pixels, where one-sided slopes differ (and off ties, for nearest).
void avoid_kinks(const GridSampleProblem& p, Floats& grid) {
  for (size_t i = 0; i < grid.size(); ++i) {
    const int64_t size = p.in[2 - i % static_cast<size_t>(p.axes)];
    const double x = to_pixels(grid[i], size, p.align_corners), base = std::floor(x), part = x - base;
    const double moved = base + (part < 0.05 || part > 0.95 ? 0.3 : std::abs(part - 0.5) < 0.05 ? 0.6 : part);
    if (moved != x && size > 1) grid[i] = static_cast<float>(from_pixels(moved, size, p.align_corners));
  }
}

void check(GridSampleProblem p) {
  for (Layout layout : {Layout::nhwc, Layout::nchw})
    for (Pass pass : {Pass::forward, Pass::backward}) {
      p.layout = layout, p.pass = pass;
      check_rows(p, sample_oracle, {.integers = false, .adjust = [&](Data& d) { avoid_kinks(p, d.in[1]); }});
    }
}

TEST(GridSample, EveryModeInTwoAndThreeDimensions) {
  for (GridSampling sampling : {GridSampling::nearest, GridSampling::linear})
    for (GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection})
      for (bool align : {false, true}) {
        check({.n = 2,
               .channels = 5,
               .in = {1, 4, 7},
               .out = {1, 5, 3},
               .sampling = sampling,
               .padding = padding,
               .align_corners = align});
        check({.n = 2,
               .channels = 3,
               .axes = 3,
               .in = {3, 4, 5},
               .out = {2, 3, 3},
               .sampling = sampling,
               .padding = padding,
               .align_corners = align});
      }
}

TEST(GridSample, OnePixelManyChannelsNothing) {
  for (GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection})
    for (bool align : {false, true})
      check({.channels = 2, .in = {1, 1, 1}, .out = {1, 2, 3}, .padding = padding, .align_corners = align});
  check({.n = 1, .channels = 70, .in = {1, 6, 5}, .out = {1, 9, 17}});
  check({.n = 0, .channels = 3, .in = {1, 6, 5}, .out = {1, 2, 2}});
  check({.n = 2, .channels = 3, .in = {1, 0, 5}, .out = {1, 0, 2}});
}

TEST(GridSample, PositionsThatAreNoNumbers) {
  const Floats x = {1, 2, 3, 4}, grid = {NAN, 0, INFINITY, 0, 1e30f, -INFINITY};
  const auto y = [&](GridPadding padding) {
    Floats out(3);
    Primitive(GridSampleProblem{.channels = 1, .in = {1, 2, 2}, .out = {1, 1, 3}, .padding = padding})
        .run({.in = {x.data(), grid.data()}, .out = {out.data()}});
    return out;
  };
  EXPECT_EQ(y(GridPadding::zeros), (Floats{0, 0, 0}));
  EXPECT_EQ(y(GridPadding::border), (Floats{2, 3, 2}));  // the middle of a column, or a corner
  for (float v : y(GridPadding::reflection)) EXPECT_TRUE(v >= 1 && v <= 4) << v;
}

Expected affine_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<AffineGridProblem>(problem);
  Expected e;
  e.out[0].assign(static_cast<size_t>(operand_sizes(problem).out[0]), 0);
  e.bound[0].assign(e.out[0].size(), 0);
  const int64_t points = volume(p.out);
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t point = 0; point < points; ++point)
      for (int64_t i = 0; i < p.axes; ++i)
        for (int64_t k = 0, rest = point; k <= p.axes; ++k) {
          const int64_t size = k < p.axes ? p.out[static_cast<size_t>(2 - k)] : 1;
          const double position = k < p.axes ? from_pixels(static_cast<double>(rest % size), size, p.align_corners) : 1;
          rest /= size;
          const auto theta = static_cast<size_t>((n * p.axes + i) * (p.axes + 1) + k);
          const auto grid = static_cast<size_t>((n * points + point) * p.axes + i);
          const bool forward = p.pass == Pass::forward;
          const double term = position * data.in[0][forward ? theta : grid];
          e.out[0][forward ? grid : theta] += term;
          e.bound[0][forward ? grid : theta] += 2 * kEps * std::abs(term);
        }
  return e;
}

TEST(AffineGrid, ForwardAndBackward) {
  for (Pass pass : {Pass::forward, Pass::backward})
    for (bool align : {false, true}) {
      const auto check = [&](int64_t n, int axes, Extents out) {
        check_rows(AffineGridProblem{pass, n, axes, out, align}, affine_oracle, {.integers = false});
      };
      check(2, 2, {1, 5, 7});
      check(1, 2, {1, 1, 1});
      check(3, 3, {2, 1, 9});
      check(1, 3, {4, 20, 30});
      check(0, 2, {1, 3, 3});
      check(2, 2, {1, 0, 3});
    }
}

}  // namespace
}  // namespace trine::dnn::test
