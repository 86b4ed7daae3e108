// The microkernel every contraction is made of: a tile of mr rows by up to four panels of 16 columns, held in registers
// while it runs through k.
//
//   rows a[t][i] + k            B panel p:  b + p * panel_stride + k * k_stride, 16 columns
//   C[i][j] = epilogue( sum over t < taps, k < kc of a[t][i][k] * B[t * kc + k][j] )
//
// Depth is counted in words of 32 bits: one f32, two bf16 or four 8-bit integers of a row, multiplied with as many of a
// column. A row may begin at any element and end within a word; such a word stands in a table, filled up with zeros.
//
// Rows are reached through pointers, so that a GEMM, a strided, dilated or padded convolution (padding points at zeros)
// and a transposed one are the same loop. A number format on a level of CPU is one GemmIsa: its kernels and its block
// sizes.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"
#include "trine/base/dtype.h"
#include "trine/dnn/epilogue.h"

namespace trine::cpu {

constexpr int kPanel = 16;  // columns of a packed panel
constexpr int kMaxPanels = 4;
constexpr int kMaxTileRows = 12;
constexpr int kMaxLineRows = 14;  // of a LineTile

// What happens to sums; see dnn/epilogue.h, for 8-bit integers dnn::Quantization.
struct TileEpilogue {
  float scale = 1;
  const float* bias = nullptr;  // of column 0 of the matrix
  int64_t residual_offset = 0;  // residual - c, in elements of C; read only when the kind is not none
  dnn::Residual residual = dnn::Residual::none;
  dnn::Activation activation = dnn::Activation::none;
  float alpha = 0, beta = 0;
  // Activation as max(low, .) then min(high, .), when it is none, relu or clip.
  bool is_clamp = true;
  float low = -__builtin_inff(), high = __builtin_inff();

  // The rest is for other formats than f32. Arrays by column are readable up to a whole panel.
  DType out = DType::f32;
  const int32_t* offsets = nullptr;  // of 8-bit integers, by column: zero point and bias
  const float* scales = nullptr;     // likewise
  uint32_t flip = 0;                 // of every word of A: 0x80808080 turns i8 into u8, 128 larger
  float out_multiplier = 1;
  float out_low = 0, out_high = 0;  // what the output's type holds, less its zero point
  int32_t out_zero = 0;
  uint8_t residual_flip = 0;  // as flip
  int32_t residual_zero = 0;  // of the flipped residual
  float residual_scale = 1;

  static TileEpilogue from(const dnn::Epilogue& e, const void* bias, const void* residual, const void* c,
                           DType out = DType::f32);
};

struct Tile {
  const void* const* a;  // [taps][mr]
  void* const* c;        // [mr], at column 0 of the matrix
  int64_t a_offset = 0;  // bytes added to every row pointer
  int64_t column = 0;    // first column of the tile
  int columns = 0;       // valid columns, at most 16 * panels
  int taps = 1;
  int64_t kc = 0;  // whole words of a tap
  // [taps][mr]: what rows end in beyond their whole words, filled up with zeros; null when they end with a word.
  const uint32_t* last_words = nullptr;
  uint32_t last_mask = 0;    // or, where rows may be read to the end of their last word, what counts of it
  const float* b = nullptr;  // words of panels
  int64_t k_stride = kPanel;
  int64_t panel_stride = 0;
  bool add_to_c = false;            // the sums continue those in C
  bool finish = true;               // apply the epilogue
  const float* prefetch = nullptr;  // brought to L2 meanwhile, a line per k, prefetch_step words apart
  int64_t prefetch_step = 0;
  const TileEpilogue* epilogue = nullptr;
};

// A tile whose rows and taps lie at constant distances.
struct LineTile {
  Tile tile;  // but `a` and what belongs to it
  const char* a = nullptr;
  int64_t a_step = 0, tap_step = 0;  // in bytes
  int skipped = 0;                   // rows that another tile has written
};

using TileFunction = void (*)(const Tile&);
using LineTileFunction = void (*)(const LineTile&);

struct GemmIsa {
  DType format;  // f32, bf16, or i8 (by u8)
  CpuLevel level;
  CpuFeatures features;
  int max_rows[kMaxPanels + 1];  // by number of panels, falling; 0: not made
  TileFunction tile[kMaxPanels + 1][kMaxTileRows + 1];
  TileFunction half_panel_tile[kMaxPanels + 1]
                              [kMaxTileRows + 1];  // of a last panel with at most half its columns in use

  int line_rows[kMaxPanels + 1];  // of a LineTile by number of panels, no fewer; 0: not made
  LineTileFunction line_tile[kMaxPanels + 1];

  // For that many rows by `columns` columns in panels [0, panels).
  TileFunction tile_for(int panels, int rows, int columns) const {
    return (columns <= panels * kPanel - kPanel / 2 ? half_panel_tile : tile)[panels][rows];
  }
  // Of f32 only.
  // dst [k][16] from src rows k of `columns` <= 16 valid floats, or (transposed) from `columns` rows of k floats.
  void (*pack_panel)(const float* src, int64_t ld, int64_t k, int columns, float* dst);
  void (*pack_panel_transposed)(const float* src, int64_t ld, int64_t k, int columns, float* dst);
  // dst[j * ldd + i] = src[i * lds + j], i < rows, j < columns.
  void (*transpose)(const float* src, int64_t lds, float* dst, int64_t ldd, int64_t rows, int64_t columns);
  double flops_per_cycle;  // multiply-adds count 2; of one that begins one 512-bit multiply-add a cycle

  int64_t element_bytes() const { return format == DType::f32 ? 4 : format == DType::bf16 ? 2 : 1; }
  // Words that hold k elements.
  int64_t words(int64_t k) const { return (k * element_bytes() + 3) / 4; }
};

extern const GemmIsa kGemmBaseline, kGemmBf16Baseline, kGemmInt8Baseline;
#if defined(__x86_64__)
extern const GemmIsa kGemmAvx2, kGemmBf16Avx2, kGemmInt8Avx2;
extern const GemmIsa kGemmAvx512;
extern const GemmIsa kGemmAvx512Bf16, kGemmAvx512Vnni;  // machines without them take the AVX2 kernels
#endif
const GemmIsa& gemm_isa(CpuLevel level);

}  // namespace trine::cpu
