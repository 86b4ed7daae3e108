// Depthwise kernels: a tile of outputs of one vector of channels. Inputs are reached through a table of pointers,
// padding pointing at zeros, so that borders need no code of their own. Weights are [kernel position][C].
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

constexpr int kDepthwiseBlock = 128;  // channels that share one table; also the zeros that must be readable
constexpr int kGeneralOutputs = 8;    // outputs of a tile of the general kernel

struct DepthwiseTile {
  const float* const* in;  // fast: [(rows - 1) * stride + kernel_h][(columns - 1) * stride + kernel_w]
                           // general: [kernel position][columns]
  float* const* out;       // [rows][columns], at the first channel of the block
  const float* weights;    // at the first channel of the block
  int64_t weight_stride;   // C
  int positions;           // fast: kernel_h; general: all kernel positions
  int columns;             // general only: at most kGeneralOutputs
  int channels;            // of the block, at least one vector
  const float* bias;       // of the block, or null
  const TileEpilogue* epilogue;
};
using DepthwiseFunction = void (*)(const DepthwiseTile&);

// Tiles of 1 or 2 rows by 1, 2, 4 or 7 columns.
constexpr int kDepthwiseColumns[] = {7, 4, 2, 1};

struct DepthwiseIsa {
  CpuLevel level;
  int vector;                          // least number of channels
  DepthwiseFunction fast[3][2][2][4];  // [kernel_w 3 5 7][stride - 1][rows - 1][kDepthwiseColumns]; or null
  DepthwiseFunction general;
};
extern const DepthwiseIsa kDepthwiseBaseline;
#if defined(__x86_64__)
extern const DepthwiseIsa kDepthwiseAvx2;
extern const DepthwiseIsa kDepthwiseAvx512;
#endif
const DepthwiseIsa& depthwise_isa(CpuLevel level);

}  // namespace trine::cpu
