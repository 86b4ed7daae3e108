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

// The padded image that the rows algorithm reads. Its pixels are whole words.
struct PaddedImage {
  const ConvProblem& p;
  CpuLevel level;
  int64_t channels;
  Extents size;  // just what the kernel touches

  PaddedImage(const GemmIsa& isa, const ConvProblem& problem)
      : p(problem), level(isa.level), channels(isa.words(p.in_channels) * 4 / isa.element_bytes()) {
    for (size_t i = 0; i < 3; ++i) size[i] = (p.out[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1;
  }
  int64_t line_elements() const { return size[2] * channels; }
  int64_t lines() const { return p.n * size[0] * size[1]; }
  int64_t line_bytes() const { return line_elements() * static_cast<int64_t>(byte_size(p.types.in)); }
  size_t bytes() const { return static_cast<size_t>(lines() * line_bytes()); }

  // `padding` is the byte that stands for 0 in 8-bit integers.
  void fill(const void* x, uint8_t padding, ThreadPool& pool, void* image) const;

 private:
  template <class T>
  void fill_line(const T* x, int64_t ldx, int64_t line, T padding, T* to) const;
  template <class T>
  void fill_all(const void* x, T padding, ThreadPool& pool, void* image) const;
};

struct PaddedRows {
  const PaddedImage& image;
  const char* at;
  char* y;
  int64_t y_step;

  static void fill(const void* context, int64_t row, int count, const void** a, void** c);
};

}  // namespace trine::cpu
