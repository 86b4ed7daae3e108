// Depthwise kernels: a tile of outputs of one vector of channels. Inputs are reached through a table of pointers,
// padding pointing at zeros, so that borders need no code of their own. Weights are [kernel position][C].
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

constexpr int kDepthwiseBlock = 128;  // channels that share one table; also the zeros that must be readable
constexpr int kGeneralOutputs = 8;    // outputs of a tile of the general kernel

struct DepthwiseTile {
  const void* const* in;  // fast: [(rows - 1) * stride + kernel_h][(columns - 1) * stride + kernel_w]
                          // general: [kernel position][columns]
  void* const* out;       // [rows][columns], at the first channel of the block
  const float* weights;   // at the first channel of the block
  int64_t weight_stride;  // C
  int positions;          // fast: kernel_h; general: all kernel positions
  int columns;            // general only: at most kGeneralOutputs
  int channels;           // of the block, at least one vector
  const float* bias;      // of the block, or null
  const TileEpilogue* epilogue;
};
using DepthwiseFunction = void (*)(const DepthwiseTile&);

// One tap: `count` pixels in a row, each channel scaled and shifted.
struct DepthwisePixels {
  const float* in;
  float* out;
  int64_t in_step, out_step, count;  // in floats; pixels
  const float* weights;
  const float* bias;  // or null
  int channels;       // at least one vector
  float low, high;    // bounds of the result
};

// Tiles of 1 or 2 rows by 1, 2, 4 or 7 columns.
constexpr int kDepthwiseColumns[] = {7, 4, 2, 1};

struct DepthwiseIsa {
  DType format;  // of inputs: f32, bf16, or u8 (i8 is flipped); weights are f32 always
  CpuLevel level;
  int vector;                          // least number of channels
  DepthwiseFunction fast[3][2][2][4];  // [kernel_w 3 5 7][stride - 1][rows - 1][kDepthwiseColumns]; or null, 7
                                       // and 2 columns also alone
  DepthwiseFunction general;
  void (*scale_pixels)(const DepthwisePixels&) = nullptr;  // f32

  int64_t element_bytes() const { return format == DType::f32 ? 4 : format == DType::bf16 ? 2 : 1; }
};
extern const DepthwiseIsa kDepthwiseBaseline, kDepthwiseBf16Baseline, kDepthwiseInt8Baseline;
#if defined(__x86_64__)
extern const DepthwiseIsa kDepthwiseAvx2, kDepthwiseBf16Avx2, kDepthwiseInt8Avx2;
extern const DepthwiseIsa kDepthwiseAvx512, kDepthwiseBf16Avx512, kDepthwiseInt8Avx512;
#endif

}  // namespace trine::cpu
