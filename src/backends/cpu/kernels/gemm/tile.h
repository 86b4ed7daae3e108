// The microkernel every contraction is made of: a tile of mr rows by up to four panels of 16 columns, held in registers
// while it runs through k.
//
//   rows a[t][i] + k            B panel p:  b + p * panel_stride + k * k_stride, 16 columns
//   C[i][j] = epilogue( sum over t < taps, k < kc of a[t][i][k] * B[t * kc + k][j] )
//
// Rows are reached through pointers, so that a GEMM, a strided, dilated or padded convolution (padding points at zeros)
// and a transposed one are the same loop. A level of CPU is one GemmIsa: its kernels and its block sizes.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"
#include "trine/dnn/epilogue.h"

namespace trine::cpu {

constexpr int kPanel = 16;  // columns of a packed panel
constexpr int kMaxPanels = 4;
constexpr int kMaxTileRows = 14;

// What happens to sums; see dnn/epilogue.h.
struct TileEpilogue {
  float scale = 1;
  const float* bias = nullptr;  // of column 0 of the matrix
  int64_t residual_offset = 0;  // residual - c, in floats; read only when the kind is not none
  dnn::Residual residual = dnn::Residual::none;
  dnn::Activation activation = dnn::Activation::none;
  float alpha = 0, beta = 0;
  // Activation as max(low, .) then min(high, .), when it is none, relu or clip.
  bool is_clamp = true;
  float low = -__builtin_inff(), high = __builtin_inff();

  static TileEpilogue from(const dnn::Epilogue& e, const float* bias, const float* residual, const float* c);
};

struct Tile {
  const float* const* a;  // [taps][mr]
  float* const* c;        // [mr], at column 0 of the matrix
  int64_t a_offset = 0;   // added to every row pointer
  int64_t column = 0;     // first column of the tile
  int columns = 0;        // valid columns, at most 16 * panels
  int taps = 1;
  int64_t kc = 0;
  const float* b = nullptr;
  int64_t k_stride = kPanel;
  int64_t panel_stride = 0;
  bool add_to_c = false;            // the sums continue those in C
  bool finish = true;               // apply the epilogue
  const float* prefetch = nullptr;  // brought to L2 meanwhile, prefetch_step floats per 4 k
  int64_t prefetch_step = 0;
  const TileEpilogue* epilogue = nullptr;
};

using TileFunction = void (*)(const Tile&);

struct GemmIsa {
  CpuLevel level;
  int max_rows[kMaxPanels + 1];  // by number of panels; 0: not made
  TileFunction tile[kMaxPanels + 1][kMaxTileRows + 1];
  // dst [k][16] from src rows k of `columns` <= 16 valid floats, or (transposed) from `columns` rows of k floats.
  void (*pack_panel)(const float* src, int64_t ld, int64_t k, int columns, float* dst);
  void (*pack_panel_transposed)(const float* src, int64_t ld, int64_t k, int columns, float* dst);
  // dst[j * ldd + i] = src[i * lds + j], i < rows, j < columns.
  void (*transpose)(const float* src, int64_t lds, float* dst, int64_t ldd, int64_t rows, int64_t columns);
  double flops_per_cycle;  // multiply-adds count 2
};

extern const GemmIsa kGemmBaseline;
#if defined(__x86_64__)
extern const GemmIsa kGemmAvx2;
extern const GemmIsa kGemmAvx512;
#endif
const GemmIsa& gemm_isa(CpuLevel level);

}  // namespace trine::cpu
