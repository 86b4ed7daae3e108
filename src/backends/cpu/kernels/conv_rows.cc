#include "backends/cpu/kernels/conv_rows.h"

#include <algorithm>
#include <cstring>

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

bool PaddedImage::is_input() const {
  const bool dense = p.in_layout == Layout::nhwc && pixel_stride(p.in_pixel_stride, p.in_channels) == p.in_channels;
  const bool whole_words = p.kernel[2] * pixel_bytes() % 4 == 0;
  return dense && whole_words && size == p.in && p.pad_begin == Extents{0, 0, 0};
}

// Pixels [from, end) of one line of the input.
template <class T>
void PaddedImage::fill_pixels(const T* x, int64_t plane, int64_t line, int64_t from, int64_t end, T* to) const {
  const int64_t own = p.in_channels, pixels = p.in[0] * p.in[1] * p.in[2];
  if (p.in_layout == Layout::nhwc) {
    const int64_t ldx = pixel_stride(p.in_pixel_stride, own);
    const T* source = x + ((plane * p.in[1] + line) * p.in[2] + from) * ldx;
    if (ldx == own) return (void)std::memcpy(to, source, static_cast<size_t>((end - from) * own) * sizeof(T));
    for (int64_t i = from; i < end; ++i, source += ldx, to += own)
      for (int64_t c = 0; c < own; ++c) to[c] = source[c];
    return;
  }
  const T* first = x + plane / p.in[0] * own * pixels + (plane % p.in[0] * p.in[1] + line) * p.in[2] + from;
  if (own == 1) return (void)std::memcpy(to, first, static_cast<size_t>(end - from) * sizeof(T));
  if (const auto together = interleave_isa(level).together(sizeof(T), own, end - from))
    return together(first, to, pixels, end - from);
  for (int64_t c = 0; c < own; ++c)
    for (int64_t i = 0; i < end - from; ++i) to[i * own + c] = first[c * pixels + i];
}

template <class T>
void PaddedImage::fill_line(const T* x, int64_t line, T padding, T* to) const {
  const int64_t y = line % size[1] - p.pad_begin[1], z = line / size[1] % size[0] - p.pad_begin[0];
  const int64_t n = line / size[1] / size[0], width = size[2], own = p.in_channels;
  const bool inside = y >= 0 && y < p.in[1] && z >= 0 && z < p.in[0];
  // Columns of the image that lie inside the input.
  const int64_t from = inside ? std::clamp<int64_t>(p.pad_begin[2], 0, width) : width;
  const int64_t end = std::clamp(p.in[2] + p.pad_begin[2], from, width);
  std::fill_n(to, from * own, padding);
  if (end > from && own > 0)
    fill_pixels(x, n * p.in[0] + z, y, from - p.pad_begin[2], end - p.pad_begin[2], to + from * own);
  std::fill_n(to + end * own, (width - end) * own, padding);
}

void PaddedImage::fill(const void* x, uint8_t padding, int64_t begin, int64_t end, void* to) const {
  auto* at = static_cast<char*>(to);
  for (int64_t i = begin; i < end; ++i, at += line_bytes()) {
    if (p.types.in == DType::f32) fill_line(static_cast<const float*>(x), i, 0.f, reinterpret_cast<float*>(at));
    else if (p.types.in == DType::bf16)
      fill_line(static_cast<const uint16_t*>(x), i, uint16_t{0}, reinterpret_cast<uint16_t*>(at));
    else fill_line(static_cast<const uint8_t*>(x), i, padding, reinterpret_cast<uint8_t*>(at));
  }
}

void PaddedImage::fill(const void* x, uint8_t padding, ThreadPool& pool, void* to) const {
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, line_bytes()));
  pool.parallel_for(lines(), grain, [&](int64_t begin, int64_t end) {
    fill(x, padding, begin, end, static_cast<char*>(to) + begin * line_bytes());
  });
}

void PaddedRows::fill(const void* context, int64_t row, int count, const void** a, void** c) {
  auto& rows = *static_cast<const PaddedRows*>(context);
  const PaddedImage& image = rows.image;
  const ConvProblem& p = image.p;
  const int64_t pixel_bytes = image.pixel_bytes();
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
