// Depthwise kernels of narrow numbers that multiply words of taps: neighbouring pixels of a channel are interleaved, so
// that one instruction adds two products of bf16 (vdpbf16ps) or four of 8-bit integers (vpdpbusd) to a channel's sum.
//
//   places     k = 0, 1, ...: the pixels 2 k, 2 k + 1, ... of a row, as many as a word has taps
//   output j   of stride 1 begins at pixel j: place j / 2, weights shifted by j % 2; of stride 2 at place j, not
//   shifted
//              word n of a kernel row stands n * taps / 2 places further
//
// A block is 32 channels. Interleaving works within lanes of 128 bits, so that the two vectors of sums have an order of
// their own, which narrowing undoes: four channels of one, four of the other.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

constexpr int kWordsKernel = 7;  // most rows and columns of a kernel
constexpr int kWordsSpare = 3;   // pixels that may be read behind a tile's last tap, where weights are 0
constexpr int kWordsBlock = 32;  // channels
constexpr int kWordsColumns[] = {7, 4};

struct WordsNumbers {                                       // by channel of a block, in the order of its sums
  alignas(64) int32_t start[kWordsBlock];                   // what sums begin with: integers, or floats
  alignas(64) float scale[kWordsBlock], bias[kWordsBlock];  // of integers
};

struct WordsTile {
  const void* const* const* in;  // [kernel_rows]: pixels of a row
  int64_t in_offset;             // bytes from there to the block
  int kernel_rows;
  const void* weights;  // of the block
  int channels;         // of the block
  void* out;
  int64_t out_step;  // bytes from pixel to pixel
  bool narrows;      // to the format itself, without a residual; else any epilogue is applied afterwards
  const WordsNumbers* numbers;
  const TileEpilogue* epilogue;
  int64_t channel;  // the first of the block: where numbers by channel of `epilogue` stand
};

struct WordsIsa {
  DType format;  // bf16, or u8 (i8 is flipped)
  CpuFeatures features;
  int taps;
  void (*tile[3][2][2])(const WordsTile&);  // [kernel columns 3 5 7][stride - 1][kWordsColumns]

  int64_t element_bytes() const { return 4 / taps; }
  int words(int64_t kernel) const { return static_cast<int>(kernel + taps) / taps; }  // of a kernel row
  static int shifts(int64_t stride) { return stride == 1 ? 2 : 1; }
  // Of lane `l` of vector `v`.
  static int channel(int v, int l) { return l / 4 * 8 + v * 4 + l % 4; }
};

#if defined(__x86_64__)
extern const WordsIsa kWordsBf16, kWordsInt8;
#endif

}  // namespace trine::cpu
