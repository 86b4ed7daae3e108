// Sampling at a grid. A point is up to eight taps: pixels with weights, and the derivatives of those weights to the
// point's coordinates. Outputs are independent points; dx is divided by images and channels only, so that each of its
// sums runs over the points in order, whatever the number of threads.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/primitives/grid/grid_rows.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kChannelBlock = 32;  // channels of one unit of dx
constexpr double kFarAway = 1e15;      // past this a position says nothing about pixels

const GridSampleProblem& of(const Problem& problem) { return std::get<GridSampleProblem>(problem); }

// A coordinate with its derivative to what it was made of.
struct Coordinate {
  double x, slope;
};

// Mirrors x at the edges until it lies between them.
Coordinate reflect(Coordinate c, double low, double high) {
  const double range = high - low;
  if (range <= 0 || !std::isfinite(c.x)) return {low, 0};
  const double distance = c.x < low ? low - c.x : c.x > high ? c.x - high : 0;
  if (distance == 0) return c;
  const double turns = std::floor(distance / range), rest = distance - turns * range;
  const bool from_low = (c.x < low) == (std::fmod(turns, 2) == 0);
  const double grows = c.x < low ? -c.slope : c.slope;  // of `rest`
  return from_low ? Coordinate{low + rest, grows} : Coordinate{high - rest, -grows};
}

// The two pixels of one axis; -1 reads 0.
struct AxisTaps {
  int64_t at[2] = {0, -1};
  double weight[2] = {1, 0};
  double slope[2] = {0, 0};  // of the weights
};

AxisTaps axis_taps(const GridSampleProblem& p, double position, int64_t size) {
  const auto n = static_cast<double>(size);
  Coordinate c = p.align_corners ? Coordinate{(position + 1) / 2 * (n - 1), (n - 1) / 2}
                                 : Coordinate{((position + 1) * n - 1) / 2, n / 2};
  if (p.sampling == GridSampling::nearest) c = {std::nearbyint(c.x), 0};
  const double low = p.align_corners ? 0 : -0.5, high = p.align_corners ? n - 1 : n - 0.5;
  if (p.padding == GridPadding::border) {
    if (c.x <= 0 || c.x >= n - 1) c.slope = 0;
    c.x = std::clamp(c.x, 0.0, n - 1);
  }
  if (p.padding == GridPadding::reflection) c = reflect(c, low, high);
  if (!(std::fabs(c.x) < kFarAway)) c = {p.padding == GridPadding::zeros ? -1e9 : 0, 0};
  const double base = std::floor(c.x);
  AxisTaps taps;
  if (p.sampling == GridSampling::linear) {
    taps.weight[0] = 1 - (c.x - base), taps.weight[1] = c.x - base;
    taps.slope[0] = -c.slope, taps.slope[1] = c.slope;
  }
  const auto inside = [&](int64_t at) -> int64_t {
    if (p.padding == GridPadding::reflection)
      at = static_cast<int64_t>(reflect({static_cast<double>(at), 0}, low, high).x);
    if (p.padding != GridPadding::zeros) at = std::clamp<int64_t>(at, 0, size - 1);
    return at >= 0 && at < size ? at : -1;
  };
  taps.at[0] = inside(static_cast<int64_t>(base));
  if (p.sampling == GridSampling::linear) taps.at[1] = inside(static_cast<int64_t>(base) + 1);
  return taps;
}

struct Tap {
  int64_t pixel;
  float weight, slope[3];  // slopes to x, y, z
};

// The taps that exist of a point; `grid` holds its coordinates.
int taps_of(const GridSampleProblem& p, const float* grid, Tap* taps) {
  AxisTaps axis[3];  // depth, height, width
  for (int k = 0; k < p.axes; ++k) axis[2 - k] = axis_taps(p, grid[k], p.in[static_cast<size_t>(2 - k)]);
  const int each = p.sampling == GridSampling::linear ? 2 : 1;
  int count = 0;
  for (int z = 0; z < (p.axes == 3 ? each : 1); ++z)
    for (int y = 0; y < each; ++y)
      for (int x = 0; x < each; ++x) {
        const int64_t az = axis[0].at[z], ay = axis[1].at[y], ax = axis[2].at[x];
        if (az < 0 || ay < 0 || ax < 0) continue;
        const double wz = axis[0].weight[z], wy = axis[1].weight[y], wx = axis[2].weight[x];
        taps[count++] = {
            (az * p.in[1] + ay) * p.in[2] + ax,
            static_cast<float>(wz * wy * wx),
            {static_cast<float>(wz * wy * axis[2].slope[x]), static_cast<float>(wz * wx * axis[1].slope[y]),
             static_cast<float>(wy * wx * axis[0].slope[z])}};
      }
  return count;
}

// Distances between pixels and between channels of an image of `pixels`.
struct Steps {
  int64_t pixel, channel, image;

  Steps(const GridSampleProblem& p, int64_t pixels)
      : pixel(p.layout == Layout::nhwc ? p.channels : 1),
        channel(p.layout == Layout::nhwc ? 1 : pixels),
        image(p.channels * pixels) {}
};

const GridIsa& grid_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kGridAvx512;
  if (level == CpuLevel::avx2) return kGridAvx2;
#endif
  return kGridBaseline;
}

// to += factor * from over n channels, which are `from_step` and `to_step` apart.
void add_channels(const GridIsa& isa, const float* from, int64_t from_step, int64_t n, float factor, float* to,
                  int64_t to_step) {
  if (from_step == 1 && to_step == 1) return isa.add_scaled(from, n, factor, to);
  for (int64_t c = 0; c < n; ++c) to[c * to_step] += factor * from[c * from_step];
}

float dot_channels(const GridIsa& isa, const float* a, int64_t a_step, const float* b, int64_t b_step, int64_t n) {
  if (a_step == 1 && b_step == 1) return isa.dot(a, b, n);
  float sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += a[c * a_step] * b[c * b_step];
  return sum;
}

void forward(const GridIsa& isa, const GridSampleProblem& p, const Args& args, ThreadPool& pool) {
  const auto *x = static_cast<const float*>(args.in[0]), *grid = static_cast<const float*>(args.in[1]);
  auto* y = static_cast<float*>(args.out[0]);
  const int64_t points = volume(p.out);
  const Steps in(p, volume(p.in)), out(p, points);
  pool.parallel_for(p.n * points, 64, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      Tap taps[8];
      const int count = taps_of(p, grid + at * p.axes, taps);
      const float* image = x + at / points * in.image;
      float* to = y + at / points * out.image + at % points * out.pixel;
      for (int64_t c = 0; c < p.channels; ++c) to[c * out.channel] = 0;
      for (int i = 0; i < count; ++i) {
        if (taps[i].weight == 0) continue;
        add_channels(isa, image + taps[i].pixel * in.pixel, in.channel, p.channels, taps[i].weight, to, out.channel);
      }
    }
  });
}

void gradient_of_x(const GridIsa& isa, const GridSampleProblem& p, const Args& args, float* dx, ThreadPool& pool) {
  const auto *grid = static_cast<const float*>(args.in[1]), *dy = static_cast<const float*>(args.in[2]);
  const int64_t points = volume(p.out), pixels = volume(p.in);
  const int64_t blocks = (p.channels + kChannelBlock - 1) / kChannelBlock;
  const Steps in(p, pixels), out(p, points);
  pool.parallel_for(p.n * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t n = unit / blocks, first = unit % blocks * kChannelBlock;
      const int64_t count = std::min(kChannelBlock, p.channels - first);
      float* image = dx + n * in.image + first * in.channel;
      for (int64_t i = 0; i < pixels; ++i)
        for (int64_t c = 0; c < count; ++c) image[i * in.pixel + c * in.channel] = 0;
      for (int64_t at = 0; at < points; ++at) {
        Tap taps[8];
        const int many = taps_of(p, grid + (n * points + at) * p.axes, taps);
        const float* from = dy + n * out.image + first * out.channel + at * out.pixel;
        for (int i = 0; i < many; ++i) {
          if (taps[i].weight == 0) continue;
          add_channels(isa, from, out.channel, count, taps[i].weight, image + taps[i].pixel * in.pixel, in.channel);
        }
      }
    }
  });
}

void gradient_of_grid(const GridIsa& isa, const GridSampleProblem& p, const Args& args, float* dgrid,
                      ThreadPool& pool) {
  const auto *x = static_cast<const float*>(args.in[0]), *grid = static_cast<const float*>(args.in[1]);
  const auto* dy = static_cast<const float*>(args.in[2]);
  const int64_t points = volume(p.out);
  const Steps in(p, volume(p.in)), out(p, points);
  pool.parallel_for(p.n * points, 64, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      Tap taps[8];
      const int count = p.sampling == GridSampling::linear ? taps_of(p, grid + at * p.axes, taps) : 0;
      const float* image = x + at / points * in.image;
      const float* gradient = dy + at / points * out.image + at % points * out.pixel;
      double sums[3] = {};
      for (int i = 0; i < count; ++i) {
        const double dot =
            dot_channels(isa, image + taps[i].pixel * in.pixel, in.channel, gradient, out.channel, p.channels);
        for (int k = 0; k < p.axes; ++k)
          if (taps[i].slope[k] != 0) sums[k] += dot * taps[i].slope[k];
      }
      for (int k = 0; k < p.axes; ++k) dgrid[at * p.axes + k] = static_cast<float>(sums[k]);
    }
  });
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const GridIsa& isa = grid_isa(level);
  const GridSampleProblem& p = of(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  if (p.pass == Pass::forward) return forward(isa, p, args, pool);
  if (args.out[0]) gradient_of_x(isa, p, args, static_cast<float*>(args.out[0]), pool);
  if (args.out[1]) gradient_of_grid(isa, p, args, static_cast<float*>(args.out[1]), pool);
}

const char* fits(const Problem& problem) {
  const GridSampleProblem& p = of(problem);
  if (p.axes != 2 && p.axes != 3) return "axes other than 2 or 3";
  if (p.axes == 2 && (p.in[0] != 1 || p.out[0] != 1)) return "a depth with two axes";
  return volume(p.in) == 0 && volume(p.out) > 0 ? "an image without pixels" : nullptr;
}

template <CpuLevel kLevel, int kGigaflops>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::grid_sample,
          .needs = kLevel,
          .fits = fits,
          .cost = [](const Problem& p, int threads) { return flops(p) / (kGigaflops * 1e9) / threads; },
          .run = [](const Problem& p, const Args& args) { run(kLevel, p, args); }};
}

const KernelRow kGridSample[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512, 8>("grid_sample_f32_f32_avx512"),
    row<CpuLevel::avx2, 6>("grid_sample_f32_f32_avx2"),
#endif
    row<CpuLevel::baseline, 2>("grid_sample_f32_f32_baseline"),
};
const RegisterRows registered(kGridSample);

}  // namespace
}  // namespace trine::cpu
