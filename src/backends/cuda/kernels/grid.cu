// Grids of affine maps, and images sampled at a grid: positions in f64, as dnn/grid.h has them.
#include "element.cuh"
#include "overlap.cuh"

namespace trine {

// Where output i of `size` stands, from -1 to 1.
__device__ inline double position_of(int i, int size, bool align_corners) {
  if (!align_corners) return (2.0 * i + 1) / size - 1;
  return size > 1 ? 2.0 * i / (size - 1) - 1 : -1.0;
}

// A thread has one coordinate of one point.
__global__ void __launch_bounds__(256) affine_grid(GridSizes p, const float* theta, float* grid) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  unsigned i = item;
  const int row = static_cast<int>(taken(i, p.channel));  // the axes
  const int x = static_cast<int>(taken(i, p.width)), y = static_cast<int>(taken(i, p.height));
  const int z = static_cast<int>(taken(i, p.depth));
  const float* t = theta + (static_cast<Wide>(i) * p.axes + row) * (p.axes + 1);
  const double at[3] = {position_of(x, p.out[2], p.align_corners), position_of(y, p.out[1], p.align_corners),
                        position_of(z, p.out[0], p.align_corners)};
  double sum = t[p.axes];
  for (int k = 0; k < p.axes; ++k) sum += t[k] * at[k];
  grid[item] = static_cast<float>(sum);
}

// Mirrored at the edges until it lies between them.
__device__ inline double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0 || !(fabs(x) <= 1.7e308)) return low;
  const double distance = x < low ? low - x : x > high ? x - high : 0;
  if (distance == 0) return x;
  const double turns = floor(distance / range), rest = distance - turns * range;
  const bool from_low = (x < low) == (fmod(turns, 2.0) == 0);
  return from_low ? low + rest : high - rest;
}

// The two pixels of one axis; -1 reads 0.
struct AxisTaps {
  int at[2];
  double weight[2];
};

__device__ inline AxisTaps taps_of(const GridSizes& p, double position, int size) {
  const double n = size, low = p.align_corners ? 0 : -0.5, high = p.align_corners ? n - 1 : n - 0.5;
  double x = p.align_corners ? (position + 1) / 2 * (n - 1) : ((position + 1) * n - 1) / 2;
  if (p.nearest) x = rint(x);
  if (p.padding == 1) x = x < 0 ? 0 : x > n - 1 ? n - 1 : x;
  if (p.padding == 2) x = reflected(x, low, high);
  if (!(fabs(x) < 1e9)) x = p.padding ? 0 : -1e9;
  const double base = floor(x);
  AxisTaps taps{{0, -1}, {1, 0}};
  const auto inside = [&](int at) {
    if (p.padding == 2) at = static_cast<int>(reflected(at, low, high));
    if (p.padding) at = at < 0 ? 0 : at >= size ? size - 1 : at;
    return at >= 0 && at < size ? at : -1;
  };
  taps.at[0] = inside(static_cast<int>(base));
  if (p.nearest) return taps;
  taps.weight[0] = 1 - (x - base), taps.weight[1] = x - base;
  taps.at[1] = inside(static_cast<int>(base) + 1);
  return taps;
}

// A thread has one channel of one point.
template <class T>
__global__ void __launch_bounds__(256) grid_sample(GridSizes p, const T* x, const float* grid, T* y) {
  meet_neighbours();
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= p.items) return;
  unsigned c = 0;
  if (p.channels_inner) c = taken(i, p.channel);
  const int ox = static_cast<int>(taken(i, p.width)), oy = static_cast<int>(taken(i, p.height));
  const int oz = static_cast<int>(taken(i, p.depth));
  if (!p.channels_inner) c = taken(i, p.channel);
  const Wide point = (static_cast<Wide>(oz) * p.out[1] + oy) * p.out[2] + ox;
  const Wide points = static_cast<Wide>(p.out[0]) * p.out[1] * p.out[2];
  const float* at = grid + (i * points + point) * p.axes;
  const AxisTaps ax = taps_of(p, at[0], p.in[2]), ay = taps_of(p, at[1], p.in[1]);
  const AxisTaps az = p.axes == 3 ? taps_of(p, at[2], p.in[0]) : AxisTaps{{0, -1}, {1, 0}};
  x += i * p.x_image + c * p.x_channel;
  float sum = 0;
  for (int dz = 0; dz < 2; ++dz)
    for (int dy = 0; dy < 2; ++dy)
      for (int dx = 0; dx < 2; ++dx) {
        if (az.at[dz] < 0 || ay.at[dy] < 0 || ax.at[dx] < 0) continue;
        const float weight = static_cast<float>(az.weight[dz] * ay.weight[dy] * ax.weight[dx]);
        if (weight == 0.f) continue;
        const Wide pixel = (static_cast<Wide>(az.at[dz]) * p.in[1] + ay.at[dy]) * p.in[2] + ax.at[dx];
        sum = fmaf(weight, widened(x[pixel * p.x_pixel]), sum);
      }
  y[i * p.y_image + point * p.y_pixel + c * p.y_channel] = narrowed<T>(sum);
}

}  // namespace trine
