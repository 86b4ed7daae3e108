#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {

namespace {
// What a window covers.
struct Window {
  std::vector<int64_t> pixels;  // of the image, in the kernel's order
  int64_t counted = 0;          // positions up to the padding's end
};

Window window_of(const PoolProblem& p, int64_t pixel) {
  const int64_t o[3] = {pixel / (p.out[1] * p.out[2]), pixel / p.out[2] % p.out[1], pixel % p.out[2]};
  Window window;
  for (int64_t k = 0; k < p.kernel[0] * p.kernel[1] * p.kernel[2]; ++k) {
    const int64_t position[3] = {k / (p.kernel[1] * p.kernel[2]), k / p.kernel[2] % p.kernel[1], k % p.kernel[2]};
    int64_t i[3];
    bool in = true, in_padded = true;
    for (size_t a = 0; a < 3; ++a) {
      i[a] = o[a] * p.stride[a] + position[a] * p.dilation[a] - p.pad_begin[a];
      in = in && i[a] >= 0 && i[a] < p.in[a];
      in_padded = in_padded && i[a] < p.in[a] + p.pad_end[a];
    }
    window.counted += in_padded;
    if (in) window.pixels.push_back((i[0] * p.in[1] + i[1]) * p.in[2] + i[2]);
  }
  return window;
}
}  // namespace

Expected pool_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<PoolProblem>(problem);
  auto or_dense = [&](int64_t stride) { return stride ? stride : p.channels; };
  int64_t in_pixels = p.in[0] * p.in[1] * p.in[2], out_pixels = p.out[0] * p.out[1] * p.out[2];
  auto at = [&](int64_t n, int64_t pixels, int64_t pixel, int64_t c, int64_t stride) {
    return static_cast<size_t>(p.layout == Layout::nhwc ? (n * pixels + pixel) * or_dense(stride) + c
                                                        : (n * p.channels + c) * pixels + pixel);
  };
  Expected e;
  e.out[0].assign(static_cast<size_t>(operand_sizes(problem).out[0]), untouched(operand_sizes(problem).out_types[0]));
  e.bound[0].assign(e.out[0].size(), 0);
  for (int64_t pixel = 0; pixel < out_pixels; ++pixel) {
    const Window window = window_of(p, pixel);
    const auto inside = static_cast<int64_t>(window.pixels.size());
    const auto divisor = static_cast<double>(p.kind == PoolKind::average_with_pad ? window.counted : inside);
    for (int64_t n = 0; n < p.n; ++n)
      for (int64_t c = 0; c < p.channels; ++c) {
        double sum = 0, magnitude = 0, most = -INFINITY;
        bool nan = false;
        for (int64_t i : window.pixels) {
          double v = data.in[0][at(n, in_pixels, i, c, p.in_pixel_stride)];
          nan = nan || std::isnan(v);
          sum += v;
          magnitude += std::abs(v);
          most = std::max(most, v);
        }
        size_t where = at(n, out_pixels, pixel, c, p.out_pixel_stride);
        e.out[0][where] = p.kind == PoolKind::max ? (nan ? NAN : most) : sum / divisor;
        // Sums and the reciprocal divisor are rounded.
        if (p.kind != PoolKind::max)
          e.bound[0][where] = static_cast<double>(inside + 3) * 0x1p-24 * magnitude / divisor;
      }
  }
  return e;
}

namespace {

PoolProblem pool2d(PoolKind kind, int64_t size, int64_t channels, int64_t kernel, int64_t stride, int64_t begin = 0,
                   int64_t end = 0) {
  PoolProblem p;
  p.kind = kind;
  p.n = 2;
  p.channels = channels;
  p.in = {1, size, size + 2};
  p.kernel = {1, kernel, kernel};
  p.stride = {1, stride, stride};
  p.pad_begin = {0, begin, begin};
  p.pad_end = {0, end, end};
  for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + begin + end - kernel) / stride + 1;
  return p;
}

// Division makes averages inexact even of integers.
void check(PoolProblem p) {
  for (Layout layout : {Layout::nhwc, Layout::nchw}) {
    p.layout = layout;
    if (layout == Layout::nchw) p.in_pixel_stride = p.out_pixel_stride = 0;
    check_rows(p, pool_oracle, {.integers = p.kind == PoolKind::max});
  }
}

constexpr PoolKind kKinds[] = {PoolKind::max, PoolKind::average, PoolKind::average_with_pad};

TEST(Pool, Sizes) {
  for (PoolKind kind : kKinds)
    for (int64_t channels : {1, 3, 8, 16, 17, 64, 83, 300})
      for (int64_t kernel : {1, 2, 3}) check(pool2d(kind, 9, channels, kernel, 2));
}

TEST(Pool, Padding) {
  for (PoolKind kind : kKinds) {
    check(pool2d(kind, 9, 20, 3, 1, 1, 1));
    check(pool2d(kind, 9, 20, 3, 2, 0, 1));
    check(pool2d(kind, 9, 20, 5, 1, 2, 2));
    check(pool2d(kind, 4, 20, 4, 4, 3, 3));
  }
}

TEST(Pool, CeilModeWindowsReachPastThePadding) {
  for (PoolKind kind : kKinds) {
    PoolProblem p = pool2d(kind, 8, 20, 3, 2, 1, 0);
    ++p.out[1], ++p.out[2];
    check(p);
  }
}

TEST(Pool, Dilated) {
  for (PoolKind kind : kKinds) {
    PoolProblem p = pool2d(kind, 9, 5, 3, 1, 1, 1);
    p.dilation = {1, 2, 2};
    p.out[1] -= 2, p.out[2] -= 2;
    check(p);
  }
}

TEST(Pool, GlobalAndSolid) {
  for (PoolKind kind : kKinds) {
    PoolProblem p = pool2d(kind, 7, 515, 7, 1);
    p.kernel = p.in, p.out = {1, 1, 1};
    check(p);
    p.in = {4, 5, 6}, p.kernel = {2, 3, 2}, p.out = {4, 4, 3}, p.stride = {1, 1, 2}, p.pad_begin = {1, 0, 0};
    p.channels = 9;
    check(p);
  }
}

TEST(Pool, Slices) {
  for (PoolKind kind : kKinds) {
    PoolProblem p = pool2d(kind, 9, 24, 3, 2, 1, 1);
    p.in_pixel_stride = 30, p.out_pixel_stride = 50;
    check(p);
  }
}

// Lines in several pieces, whose windows share columns.
TEST(Pool, LongLines) {
  for (PoolKind kind : kKinds) {
    PoolProblem p = pool2d(kind, 5, 20, 3, 2, 1, 1);
    for (int64_t width : {255, 300, 600}) {
      p.in[2] = width, p.out[2] = (width - 1) / 2 + 1;
      check(p);
    }
    p = pool2d(kind, 6, 300, 5, 1, 2, 2);
    p.in[2] = p.out[2] = 40;
    check(p);
  }
}

TEST(Pool, NaNsStayWhereverTheyStand) {
  for (int64_t kernel : {2, 3}) {
    PoolProblem p = pool2d(PoolKind::max, 9, 20, kernel, 2);
    check_rows(p, pool_oracle, {.adjust = [](Data& data) {
                 for (size_t i = 0; i < data.in[0].size(); i += 37) data.in[0][i] = NAN;
               }});
  }
}

// Each dy goes to the first of the window's maxima, or of its NaNs; averages share it.
Expected pool_backward_oracle(const Problem& problem, const Data& data) {
  const PoolProblem& p = std::get<PoolBackwardProblem>(problem).forward;
  auto or_dense = [&](int64_t stride) { return stride ? stride : p.channels; };
  int64_t in_pixels = p.in[0] * p.in[1] * p.in[2], out_pixels = p.out[0] * p.out[1] * p.out[2];
  auto at = [&](int64_t n, int64_t pixels, int64_t pixel, int64_t c, int64_t stride) {
    return static_cast<size_t>(p.layout == Layout::nhwc ? (n * pixels + pixel) * or_dense(stride) + c
                                                        : (n * p.channels + c) * pixels + pixel);
  };
  Expected e;
  e.out[0].assign(static_cast<size_t>(operand_sizes(problem).out[0]), untouched(operand_sizes(problem).out_types[0]));
  e.bound[0].assign(e.out[0].size(), 0);
  std::vector<double> magnitude(e.out[0].size(), 0);
  for (int64_t i = 0; i < p.n * p.channels * in_pixels; ++i)
    e.out[0][at(i / (p.channels * in_pixels), in_pixels, i / p.channels % in_pixels, i % p.channels,
                p.in_pixel_stride)] = 0;
  for (int64_t i = 0; i < p.n * p.channels * out_pixels; ++i) {
    const int64_t n = i / (p.channels * out_pixels), pixel = i / p.channels % out_pixels, c = i % p.channels;
    const int64_t o[3] = {pixel / (p.out[1] * p.out[2]), pixel / p.out[2] % p.out[1], pixel % p.out[2]};
    std::vector<size_t> taps;
    int64_t counted = 0;
    for (int64_t k = 0; k < p.kernel[0] * p.kernel[1] * p.kernel[2]; ++k) {
      const int64_t position[3] = {k / (p.kernel[1] * p.kernel[2]), k / p.kernel[2] % p.kernel[1], k % p.kernel[2]};
      int64_t from[3];
      bool in = true, in_padded = true;
      for (size_t a = 0; a < 3; ++a) {
        from[a] = o[a] * p.stride[a] + position[a] * p.dilation[a] - p.pad_begin[a];
        in = in && from[a] >= 0 && from[a] < p.in[a];
        in_padded = in_padded && from[a] < p.in[a] + p.pad_end[a];
      }
      counted += in_padded;
      if (in) taps.push_back(at(n, in_pixels, (from[0] * p.in[1] + from[1]) * p.in[2] + from[2], c, p.in_pixel_stride));
    }
    const double dy = data.in[1][at(n, out_pixels, pixel, c, p.out_pixel_stride)];
    if (p.kind != PoolKind::max) {
      const auto divisor =
          static_cast<double>(p.kind == PoolKind::average_with_pad ? counted : static_cast<int64_t>(taps.size()));
      for (size_t tap : taps) e.out[0][tap] += dy / divisor, magnitude[tap] += std::abs(dy / divisor);
    } else if (!taps.empty()) {
      size_t best = taps[0];
      for (size_t tap : taps) {
        const float v = data.in[0][tap], b = data.in[0][best];
        if (v > b || (std::isnan(v) && !std::isnan(b))) best = tap;
      }
      e.out[0][best] += dy, magnitude[best] += std::abs(dy);
    }
  }
  const auto overlaps = static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2] + 2);
  for (size_t i = 0; i < magnitude.size(); ++i) e.bound[0][i] = overlaps * 0x1p-24 * magnitude[i];
  return e;
}

void check_backward(PoolProblem p, std::function<void(Data&)> adjust = {}) {
  for (Layout layout : {Layout::nhwc, Layout::nchw}) {
    p.layout = layout;
    if (layout == Layout::nchw) p.in_pixel_stride = p.out_pixel_stride = 0;
    check_rows(PoolBackwardProblem{p}, pool_backward_oracle, {.integers = p.kind == PoolKind::max, .adjust = adjust});
  }
}

// The integers of check_rows have many ties.
TEST(PoolBackward, Shapes) {
  for (PoolKind kind : kKinds) {
    for (int64_t channels : {1, 3, 16, 17, 83}) check_backward(pool2d(kind, 9, channels, 3, 2));
    check_backward(pool2d(kind, 9, 20, 3, 1, 1, 1));
    check_backward(pool2d(kind, 4, 5, 4, 4, 3, 3));
    PoolProblem p = pool2d(kind, 9, 5, 3, 1, 1, 1);
    p.dilation = {1, 2, 2}, p.out[1] -= 2, p.out[2] -= 2;
    check_backward(p);
    p = pool2d(kind, 7, 130, 7, 1);
    p.in = {4, 5, 6}, p.kernel = {2, 3, 2}, p.out = {4, 4, 3}, p.stride = {1, 1, 2}, p.pad_begin = {1, 0, 0};
    check_backward(p);
    p.n = 0;
    check_backward(p);
  }
  PoolProblem slices = pool2d(PoolKind::average, 9, 24, 3, 2, 1, 1);
  slices.in_pixel_stride = 30, slices.out_pixel_stride = 50;
  check_backward(slices);
}

TEST(PoolBackward, TheFirstNanTakesIt) {
  check_backward(pool2d(PoolKind::max, 5, 18, 3, 1, 1, 1), [](Data& d) {
    d.in[0][18 * 16 + 3] = d.in[0][18 * 17 + 3] = NAN;
    for (size_t i = 0; i < 18 * 3; ++i) d.in[0][i] = -INFINITY;
  });
}

TEST(Pool, NanStays) {
  PoolProblem p = pool2d(PoolKind::max, 5, 18, 3, 1, 1, 1);
  check_rows(p, pool_oracle, {.integers = false, .adjust = [](Data& d) {
                                d.in[0][18 * 16 + 3] = NAN;
                                d.in[0][18 * 3 + 17] = -INFINITY;
                              }});
}

}  // namespace
}  // namespace trine::dnn::test
