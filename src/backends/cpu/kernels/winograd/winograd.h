// Winograd transforms of tiles of F(2x2, 3x3) and F(4x4, 3x3), nhwc, all channels of one tile.
//
// F(4x4) uses the points 0, +-1/sqrt 2, +-sqrt 2, infinity: as many operations as with 0, +-1, +-2, and the error of a
// direct f32 sum instead of five times that.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

constexpr int kMaxWinogradTile = 6;

struct WinogradInput {
  const float* in[kMaxWinogradTile * kMaxWinogradTile];  // a * a pixels, padding pointing at zeros
  int64_t channels;
  float* out;  // plane q at out + q * plane
  int64_t plane;
};

struct WinogradOutput {
  const float* in;  // plane q at in + q * plane
  int64_t plane;
  int64_t channels;
  float* out[16];  // m * m pixels; null: outside
  const TileEpilogue* epilogue;
};

// One row of planes of one panel: u[row][j] for all j, in f32.
struct WinogradFilter {
  const float* w;  // [9][channels][16]
  int64_t channels;
  int row;
  float* out;  // [channels][16] of plane j at out + j * plane
  int64_t plane;
};

struct WinogradIsa {
  void (*input2)(const WinogradInput&);
  void (*output2)(const WinogradOutput&);
  void (*input4)(const WinogradInput&);
  void (*output4)(const WinogradOutput&);
  void (*filter2)(const WinogradFilter&);
  void (*filter4)(const WinogradFilter&);
};
#if defined(__x86_64__)
extern const WinogradIsa kWinogradAvx2;
extern const WinogradIsa kWinogradAvx512;
#endif

// u = G w G^T of a 3x3 filter, in f64; m is 2 or 4, u has (m + 2)^2 values.
void winograd_filter(int m, const double* w, double* u);

}  // namespace trine::cpu
