// The driver around the transforms: blocks of tiles through input transform, products and output transform, on threads.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/winograd/winograd.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

// What is stored: U, or the plain filters that each run makes it from.
enum class WinogradFilters : uint8_t { transformed, plain };

// A way to compute a convolution: V and U are of the format that `gemm` multiplies.
struct WinogradWay {
  const WinogradIsa& isa;
  const GemmIsa& gemm;
  WinogradFilters filters = WinogradFilters::transformed;
  CpuFeatures needs = {};  // beside gemm.level
};

// How a problem is cut. Sizes are in words of `gemm`: an f32 or two bf16.
struct WinogradPlan {
  int m, a;
  int64_t words;                    // of a tile's channels in a plane of V
  int64_t tiles_y, tiles_x, tiles;  // tiles of all images
  int64_t blocks, block_tiles;
  int64_t v_plane, m_plane;
  int64_t panels, chunks;  // of plain filters; a chunk of panels is transformed at a time
  int64_t chunk_words;     // U of one row of planes and the largest chunk

  WinogradPlan(const WinogradWay& way, const dnn::ConvProblem& p, int threads);
  int planes() const { return a * a; }
  int64_t panel_words() const { return words * kPanel; }
  int64_t filter_words() const { return panels * panel_words(); }  // of a plane of U
};

size_t winograd_workspace(const WinogradWay& way, const dnn::ConvProblem& p, int threads);
void run_winograd(const WinogradWay& way, const dnn::ConvProblem& p, const dnn::Args& args);

}  // namespace trine::cpu
