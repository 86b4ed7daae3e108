// Rows of convolutions as matrix products, reached through pointers (gemm.h's RowSource).
#pragma once

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

using dnn::ConvProblem, dnn::Extents;

struct OutputPosition;

// Of one group; steps between pixels in bytes.
struct IndirectRows {
  const ConvProblem& p;
  const char* x;
  char* y;
  const char* zeros;
  int64_t x_step, y_step;

  static void fill(const void* context, int64_t row, int count, const void** a, void** c);

 private:
  void fill_row(const OutputPosition& at, int count, const void** a) const;
};

// The padded image that the rows algorithm reads: nhwc, without gaps.
struct PaddedImage {
  const ConvProblem& p;
  CpuLevel level;
  Extents size;  // just what the kernel touches

  PaddedImage(const GemmIsa& isa, const ConvProblem& problem) : p(problem), level(isa.level) {
    for (size_t i = 0; i < 3; ++i) size[i] = (p.out[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1;
  }
  int64_t pixel_bytes() const { return p.in_channels * static_cast<int64_t>(byte_size(p.types.in)); }
  int64_t line_bytes() const { return size[2] * pixel_bytes(); }
  int64_t lines() const { return p.n * size[0] * size[1]; }
  // Of a copy of so many lines. A row that ends within a word is read to the end of that.
  size_t bytes(int64_t lines) const { return static_cast<size_t>(lines * line_bytes()) + 4; }
  // The input is this image already.
  bool is_input() const;

  // Lines [begin, end) to `to`; `padding` is the byte that stands for 0 in 8-bit integers.
  void fill(const void* x, uint8_t padding, int64_t begin, int64_t end, void* to) const;
  void fill(const void* x, uint8_t padding, ThreadPool& pool, void* to) const;

 private:
  template <class T>
  void fill_line(const T* x, int64_t line, T padding, T* to) const;
  template <class T>
  void fill_pixels(const T* x, int64_t plane, int64_t line, int64_t from, int64_t end, T* to) const;
};

struct PaddedRows {
  const PaddedImage& image;
  const char* at;
  char* y;
  int64_t y_step;

  static void fill(const void* context, int64_t row, int count, const void** a, void** c);
};

}  // namespace trine::cpu
