// GridSample: y[n, c, i...] = x[n, c] at position grid[n, i..., :], which runs from -1 to 1 over each axis, last axis
// first. AffineGrid: such a grid from an affine map theta.
#include <algorithm>
#include <cmath>

#include "ops/movement.h"
#include "ops/node_error.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

constexpr int kMaxSpatial = 4;  // 4^4 taps of a cubic sample

enum class Mode { nearest, linear, cubic };
enum class Padding { zeros, border, reflection };

struct SampleOptions {
  Mode mode = Mode::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;
};

template <class C>
SampleOptions sample_options(const C& c) {
  SampleOptions o;
  const std::string mode = c.attrs().string("mode", "linear"), padding = c.attrs().string("padding_mode", "zeros");
  if (mode == "nearest") o.mode = Mode::nearest;
  else if (mode == "cubic" || mode == "bicubic") o.mode = Mode::cubic;
  else if (mode != "linear" && mode != "bilinear") c.fail("mode '" + mode + "'; one of linear, nearest, cubic");
  if (padding == "border") o.padding = Padding::border;
  else if (padding == "reflection") o.padding = Padding::reflection;
  else if (padding != "zeros") c.fail("padding_mode '" + padding + "'; one of zeros, border, reflection");
  o.align_corners = c.attrs().integer("align_corners") != 0;
  return o;
}

// Mirrors x at the borders until it lies between them.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0 || !std::isfinite(x)) return low;
  const double distance = x < low ? low - x : x > high ? x - high : 0;
  if (distance == 0) return x;
  const double turns = std::floor(distance / range), rest = distance - turns * range;
  const bool from_low = (x < low) == (std::fmod(turns, 2) == 0);
  return from_low ? low + rest : high - rest;
}

// Up to four positions of one axis with weights; -1 reads zero.
struct Taps {
  int count = 1;
  int64_t at[4];
  double weight[4];
};

double cubic_weight(double x) {
  constexpr double a = -0.75;
  x = std::fabs(x);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

Taps axis_taps(double position, int64_t size, const SampleOptions& o) {
  const auto length = static_cast<double>(size);
  double x = o.align_corners ? (position + 1) / 2 * (length - 1) : ((position + 1) * length - 1) / 2;
  if (o.mode == Mode::nearest) x = std::nearbyint(x);
  const double low = o.align_corners ? 0 : -0.5, high = o.align_corners ? length - 1 : length - 0.5;
  // A cubic sample beyond the border still moves its weights: its taps stay inside, one by one.
  if (o.padding == Padding::border && o.mode != Mode::cubic) x = std::clamp(x, 0.0, length - 1);
  if (o.padding == Padding::reflection) x = reflected(x, low, high);
  if (!(std::fabs(x) < 1e15)) x = o.padding == Padding::zeros ? -1e9 : 0;  // infinite or NaN: outside
  Taps taps;
  const double base = std::floor(x);
  int64_t first = static_cast<int64_t>(base);
  if (o.mode == Mode::linear) {
    taps.count = 2;
    taps.weight[0] = 1 - (x - base);
    taps.weight[1] = x - base;
  } else if (o.mode == Mode::cubic) {
    taps.count = 4;
    --first;
    for (int i = 0; i < 4; ++i) taps.weight[i] = cubic_weight(x - base + 1 - i);
  } else {
    taps.weight[0] = 1;
  }
  for (int i = 0; i < taps.count; ++i) {
    int64_t at = first + i;
    if (o.padding == Padding::reflection) at = static_cast<int64_t>(reflected(static_cast<double>(at), low, high));
    if (o.padding != Padding::zeros) at = std::clamp<int64_t>(at, 0, size - 1);
    taps.at[i] = at >= 0 && at < size ? at : -1;
  }
  return taps;
}

// Sum over the box of taps, axis by axis.
double sampled(const double* x, const Taps* taps, const int64_t* strides, int axes) {
  if (axes == 0) return *x;
  double sum = 0;
  for (int i = 0; i < taps->count; ++i)
    if (taps->at[i] >= 0 && taps->weight[i] != 0)
      sum += taps->weight[i] * sampled(x + taps->at[i] * *strides, taps + 1, strides + 1, axes - 1);
  return sum;
}

void infer_grid_sample(InferContext& c) {
  sample_options(c);
  c.need_rank_at_least(0, 3);
  const Shape &x = c.shape(0), &grid = c.shape(1);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  c.need_rank(1, x.rank());
  std::vector<Dim> dims{x[0], x[1]};
  for (int k = 2; k < x.rank(); ++k) dims.push_back(grid.has_rank() ? grid[k - 1] : c.fresh("grid"));
  c.set(0, c.dtype(0), Shape(std::move(dims)));
}

void grid_sample_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &grid = c.tensor(1);
  const SampleOptions options = sample_options(c);
  const int axes = x.rank() - 2;
  if (axes < 1 || grid.rank() != x.rank() || grid.dim(grid.rank() - 1) != axes || grid.dim(0) != x.dim(0))
    c.fail("x is " + x.type_text() + ", grid " + grid.type_text() + "; want [N,C,D...] and [N,d...,rank(D)]");
  if (axes > kMaxSpatial) c.fail("x has " + std::to_string(axes) + " spatial axes; at most 4");
  Dims dims{x.dim(0), x.dim(1)};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  const auto count = static_cast<int64_t>(value_count(dims));
  if (count > 0 && x.elements() == 0) c.fail("x is " + x.type_text() + "; it holds nothing to sample");
  std::vector<double> y(static_cast<size_t>(count));
  if (count == 0) return c.set(0, Tensor(x.dtype(), dims));
  const auto values = x.f64_values(), positions = grid.f64_values();
  const auto strides = dense_strides(x.dims());
  const int64_t batch = x.dim(0), channels = x.dim(1), points = count / batch / channels;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < points; ++p) {
      Taps taps[kMaxSpatial];
      for (int k = 0; k < axes; ++k)  // the grid names the last axis first
        taps[k] =
            axis_taps(positions[static_cast<size_t>((n * points + p) * axes + axes - 1 - k)], x.dim(2 + k), options);
      for (int64_t ch = 0; ch < channels; ++ch)
        y[static_cast<size_t>((n * channels + ch) * points + p)] =
            sampled(values.data() + (n * channels + ch) * strides[1], taps, strides.data() + 2, axes);
    }
  c.set(0, Tensor::from_f64(x.dtype(), dims, y));
}

const OpDef kGridSample = {.name = "grid_sample",
                           .onnx = "GridSample",
                           .doc = "y[n,c,i...] = x[n,c] sampled at grid[n,i...,:] in [-1,1]",
                           .types = "a f",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer_grid_sample,
                           .reference = grid_sample_reference};
const RegisterOp kRegisterGridSample(kGridSample);

// theta [N,2,3] and size (N,C,H,W) give [N,H,W,2]; theta [N,3,4] and (N,C,D,H,W) give [N,D,H,W,3].
void infer_affine_grid(InferContext& c) {
  c.need_rank(0, 3);
  c.need_rank(1, 1);
  const auto size = c.content(1);
  const auto length = size ? std::optional(static_cast<int64_t>(size->size())) : known_length(c, 1);
  if (!length) return c.set(0, c.dtype(0), Shape());
  if (*length != 4 && *length != 5) c.fail("size has " + std::to_string(*length) + " entries; 4 or 5");
  std::vector<Dim> dims{size ? (*size)[0] : c.fresh("grid")};
  for (int64_t k = 2; k < *length; ++k) dims.push_back(size ? (*size)[static_cast<size_t>(k)] : c.fresh("grid"));
  dims.push_back(*length - 2);
  c.set(0, c.dtype(0), Shape(std::move(dims)));
}

double grid_position(int64_t i, int64_t size, bool align_corners) {
  const auto x = static_cast<double>(i), n = static_cast<double>(size);
  if (align_corners) return size == 1 ? -1 : -1 + 2 * x / (n - 1);
  return (2 * x + 1) / n - 1;
}

void affine_grid_reference(EvalContext& c) {
  const Tensor& theta = c.tensor(0);
  const auto size = c.tensor(1).i64_values();
  if (size.size() != 4 && size.size() != 5) c.fail("size has " + std::to_string(size.size()) + " entries; 4 or 5");
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (theta.dims() != Dims{size[0], axes, axes + 1})
    c.fail("theta is " + theta.type_text() + "; for this size it must be [" + to_string(Dims{size[0], axes, axes + 1}) +
           "]");
  const bool align = c.attrs().integer("align_corners") != 0;
  const Dims space(size.begin() + 2, size.end());
  Dims dims = space;
  dims.insert(dims.begin(), size[0]);
  dims.push_back(axes);
  std::vector<double> y(value_count(dims));
  const auto map = theta.f64_values();
  const int64_t points = y.empty() ? 0 : element_count(space);
  std::vector<int64_t> index(space.size(), 0);
  for (int64_t p = 0; p < points; ++p, next_index(index, space))
    for (int64_t n = 0; n < size[0]; ++n)
      for (int64_t row = 0; row < axes; ++row) {
        const double* m = map.data() + (n * axes + row) * (axes + 1);
        double sum = m[axes];
        for (int64_t k = 0; k < axes; ++k) {  // column k is the k-th axis from the end
          const auto axis = static_cast<size_t>(axes - 1 - k);
          sum += m[k] * grid_position(index[axis], space[axis], align);
        }
        y[static_cast<size_t>((n * points + p) * axes + row)] = sum;
      }
  c.set(0, Tensor::from_f64(theta.dtype(), dims, y));
}

const OpDef kAffineGrid = {.name = "affine_grid",
                           .onnx = "AffineGrid",
                           .doc = "grid[n,i...,:] = theta[n] (position of i..., 1)",
                           .types = "f x",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer_affine_grid,
                           .reference = affine_grid_reference};
const RegisterOp kRegisterAffineGrid(kAffineGrid);

}  // namespace
}  // namespace trine
