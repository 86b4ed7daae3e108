// Convolutions of few input channels, line by line of the output: the rows algorithm where weights are small.
//
// The lines of the padded image that a few lines of the output need are copied to scratch memory that stays near. Tiles
// lie within a line of the output, where rows are at one distance: kernels that know it (LineTile) need no pointers,
// others share a table among all tiles of one size, and from tile to tile only an offset moves.
#pragma once

#include "backends/cpu/kernels/conv_rows.h"

namespace trine::cpu {

bool goes_by_lines(const GemmJob& job, const ConvProblem& p);
size_t lines_bytes(const GemmJob& job, const PaddedImage& image, int threads);

struct LinesCall {
  const GemmIsa& isa;
  const GemmJob& job;  // that of the rows, without a source
  const PaddedImage& image;
  const void* x;
  void* y;
  int64_t y_step;   // bytes between pixels
  uint8_t padding;  // the byte that stands for 0 in 8-bit integers

  // Workspace of lines_bytes.
  void run(ThreadPool& pool, void* workspace) const;
};

}  // namespace trine::cpu
