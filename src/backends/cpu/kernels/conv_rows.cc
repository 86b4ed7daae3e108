#include "backends/cpu/kernels/conv_rows.h"

#include <algorithm>

#include "backends/cpu/kernels/copy/interleave.h"

namespace trine::cpu {

using dnn::Layout;

// Walks output positions in order, starting at a row number.
struct OutputPosition {
  const ConvProblem& p;
  int64_t n, z, y, x;

  OutputPosition(const ConvProblem& problem, int64_t row) : p(problem) {
    x = row % p.out[2];
    row /= p.out[2];
    y = row % p.out[1];
    row /= p.out[1];
    z = row % p.out[0];
    n = row / p.out[0];
  }
  void next() {
    if (++x < p.out[2]) return;
    x = 0;
    if (++y < p.out[1]) return;
    y = 0;
    if (++z < p.out[0]) return;
    z = 0;
    ++n;
  }
};

void IndirectRows::fill(const void* context, int64_t row, int count, const void** a, void** c) {
  auto& rows = *static_cast<const IndirectRows*>(context);
  OutputPosition at(rows.p, row);
  for (int i = 0; i < count; ++i, at.next()) {
    c[i] = rows.y + (row + i) * rows.y_step;
    rows.fill_row(at, count, a + i);
  }
}

void IndirectRows::fill_row(const OutputPosition& at, int count, const void** a) const {
  const Extents &in = p.in, &step = p.dilation;
  int64_t z = at.z * p.stride[0] - p.pad_begin[0], y0 = at.y * p.stride[1] - p.pad_begin[1];
  int64_t x0 = at.x * p.stride[2] - p.pad_begin[2];
  for (int64_t kz = 0; kz < p.kernel[0]; ++kz, z += step[0]) {
    int64_t yy = y0;
    for (int64_t ky = 0; ky < p.kernel[1]; ++ky, yy += step[1]) {
      bool row_inside = z >= 0 && z < in[0] && yy >= 0 && yy < in[1];
      const char* line = x + ((at.n * in[0] + z) * in[1] + yy) * in[2] * x_step;
      int64_t xx = x0;
      for (int64_t kx = 0; kx < p.kernel[2]; ++kx, xx += step[2], a += count)
        *a = row_inside && xx >= 0 && xx < in[2] ? line + xx * x_step : zeros;
    }
  }
}

template <class T>
void PaddedImage::fill_line(const T* x, int64_t ldx, int64_t line, T padding, T* to) const {
  int64_t y = line % size[1] - p.pad_begin[1], z = line / size[1] % size[0] - p.pad_begin[0];
  int64_t n = line / size[1] / size[0], own = p.in_channels;
  std::fill_n(to, line_elements(), padding);
  if (y < 0 || y >= p.in[1] || z < 0 || z >= p.in[0]) return;
  int64_t from = std::max<int64_t>(0, -p.pad_begin[2]), end = std::min(p.in[2], size[2] - p.pad_begin[2]);
  if (end <= from || own == 0) return;
  to += (from + p.pad_begin[2]) * channels;
  if (p.in_layout == Layout::nhwc) {
    const T* source = x + (((n * p.in[0] + z) * p.in[1] + y) * p.in[2] + from) * ldx;
    if (ldx == channels) return (void)std::copy_n(source, (end - from) * channels, to);
    for (int64_t i = from; i < end; ++i, source += ldx, to += channels)
      for (int64_t c = 0; c < own; ++c) to[c] = source[c];
    return;
  }
  const int64_t plane = p.in[0] * p.in[1] * p.in[2];
  const T* first = x + n * own * plane + (z * p.in[1] + y) * p.in[2];
  const auto together = own == channels ? interleave_isa(level).together(sizeof(T), own, end - from) : nullptr;
  if (together) return together(first + from, to, plane, end - from);
  for (int64_t c = 0; c < own; ++c) {
    const T* source = first + c * plane;
    for (int64_t i = from; i < end; ++i) to[(i - from) * channels + c] = source[i];
  }
}

template <class T>
void PaddedImage::fill_all(const void* x, T padding, ThreadPool& pool, void* image) const {
  int64_t ldx = pixel_stride(p.in_pixel_stride, p.in_channels);
  pool.parallel_for(lines(), 16384 / std::max<int64_t>(1, std::min<int64_t>(16384, line_elements())),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i)
                        fill_line(static_cast<const T*>(x), ldx, i, padding,
                                  static_cast<T*>(image) + i * line_elements());
                    });
}

void PaddedImage::fill(const void* x, uint8_t padding, ThreadPool& pool, void* image) const {
  if (p.types.in == DType::f32) return fill_all(x, 0.f, pool, image);
  if (p.types.in == DType::bf16) return fill_all(x, uint16_t{0}, pool, image);
  fill_all(x, padding, pool, image);
}

void PaddedRows::fill(const void* context, int64_t row, int count, const void** a, void** c) {
  auto& rows = *static_cast<const PaddedRows*>(context);
  const PaddedImage& image = rows.image;
  const ConvProblem& p = image.p;
  const int64_t pixel_bytes = image.channels * static_cast<int64_t>(byte_size(p.types.in));
  for (int i = 0; i < count; ++i) c[i] = rows.y + (row + i) * rows.y_step;
  for (int i = 0; i < count;) {  // by runs along a line of the output
    const OutputPosition at(p, row + i);
    const int run = static_cast<int>(std::min<int64_t>(count - i, p.out[2] - at.x));
    const void** pointers = a + i;
    for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
      const int64_t z = at.n * image.size[0] + at.z * p.stride[0] + kz * p.dilation[0];
      for (int64_t ky = 0; ky < p.kernel[1]; ++ky, pointers += count) {
        const int64_t line = z * image.size[1] + at.y * p.stride[1] + ky * p.dilation[1];
        const char* from = rows.at + (line * image.size[2] + at.x * p.stride[2]) * pixel_bytes;
        for (int r = 0; r < run; ++r, from += p.stride[2] * pixel_bytes) pointers[r] = from;
      }
    }
    i += run;
  }
}

}  // namespace trine::cpu
