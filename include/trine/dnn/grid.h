// Spatial transformers: a grid from an affine map, and an image sampled at a grid, each with its gradients. Grids and
// maps are f32.
//
// A grid names positions from -1 to 1 along each axis, width first: (x, y) for images, (x, y, z) for volumes. -1 and 1
// are the outer edges of the first and last pixel, or with align_corners their centres. Positions are made in f64 from
// the f32 grid; the last pixel of an axis of one pixel with align_corners stands at -1.
#pragma once

#include "trine/base/dtype.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

// forward:  grid[n, o, i] = sum over k of theta[n, i, k] * (position of o, 1)[k]     theta [N, axes, axes + 1]
// backward: dtheta[n, i, k] = sum over o of dgrid[n, o, i] * (position of o, 1)[k]   sums in f64, o in order
struct AffineGridProblem {
  Pass pass = Pass::forward;
  int64_t n = 1;
  int axes = 2;          // 2: height and width, 3: depth too
  Extents out{1, 1, 1};  // of the grid [N, (depth,) height, width, axes]
  bool align_corners = false;
  friend bool operator==(const AffineGridProblem&, const AffineGridProblem&) = default;
};

enum class GridSampling : uint8_t { nearest, linear };  // nearest: halves to even
enum class GridPadding : uint8_t { zeros, border, reflection };

// forward:  y[n, o, c] = x[n, :, c] at grid[n, o]: the nearest pixel, or the 2^axes around it weighted linearly;
// outside the image 0, the border, or the image mirrored at its edges (with align_corners at the centres of its border
// pixels). backward: dx and dgrid, each wanted or not. dgrid is 0 for nearest and, with border padding, at and past the
// border; the slope at a mirror is that of the side that was reached from within. dx sums over the points in order,
// whatever the number of threads. A NaN position samples outside (zeros) or at the first pixel; a NaN in x reaches
// every y that gives it a weight other than 0.
struct GridSampleProblem {
  Pass pass = Pass::forward;
  int64_t n = 1, channels = 0;
  int axes = 2;
  Extents in{1, 1, 1};   // of x; no axis may be empty unless `out` is
  Extents out{1, 1, 1};  // of y and of the grid [N, (depth,) height, width, axes]
  GridSampling sampling = GridSampling::linear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;
  Layout layout = Layout::nhwc;  // of x, y and their gradients
  DType type = DType::f32;       // of x, y and their gradients: f16 and bf16 too
  friend bool operator==(const GridSampleProblem&, const GridSampleProblem&) = default;
};

}  // namespace trine::dnn
