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
  const void* in[kMaxWinogradTile * kMaxWinogradTile];  // a * a pixels, padding pointing at zeros
  int64_t channels;                                     // at least 16
  void* out;                                            // plane q at out + q * plane_bytes
  int64_t plane_bytes;
};

struct WinogradOutput {
  const float* in;  // plane q at in + q * plane
  int64_t plane;
  int64_t channels;
  void* out[16];  // m * m pixels; null: outside
  const TileEpilogue* epilogue;
};

// One row of planes of one panel: u[row][j] for all j, computed in f32.
struct WinogradFilter {
  const float* w;  // [9][words][16], a word being an f32 or two bf16
  int64_t words;
  int row;
  float* out;  // [words][16] of plane j at out + j * plane
  int64_t plane;
};

// The transforms of one m for one type of pixels and one of products.
struct WinogradIsa {
  int m;
  DType pixels;
  void (*input)(const WinogradInput&);
  void (*output)(const WinogradOutput&);
  void (*filter)(const WinogradFilter&);  // null: not made
};
#if defined(__x86_64__)
extern const WinogradIsa kWinograd2Avx2, kWinograd4Avx2;  // products of f32
extern const WinogradIsa kWinograd2Avx512, kWinograd4Avx512, kWinograd4Bf16Avx512;
extern const WinogradIsa kWinograd2Avx512Bf16;  // products of bf16
#endif

// u = G w G^T of a 3x3 filter, in f64; m is 2 or 4, u has (m + 2)^2 values.
void winograd_filter(int m, const double* w, double* u);

}  // namespace trine::cpu
