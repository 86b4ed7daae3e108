#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

double coordinate(const ResizeProblem& p, size_t a, double o) {
  double in = static_cast<double>(p.in[a]), out = static_cast<double>(p.out[a]), s = p.scale[a];
  if (p.coordinates == ResizeCoordinates::asymmetric) return o / s;
  if (p.coordinates == ResizeCoordinates::align_corners) return out == 1 ? 0 : o * (in - 1) / (out - 1);
  if (p.coordinates == ResizeCoordinates::pytorch_half_pixel && out == 1) return 0;
  double shift = p.coordinates == ResizeCoordinates::half_pixel_symmetric ? in / 2 * (1 - out / (s * in)) : 0;
  return shift + (o + 0.5) / s - 0.5;
}

double nearest(ResizeRounding r, double x) {
  double f = std::floor(x);
  if (r == ResizeRounding::floor) return f;
  if (r == ResizeRounding::ceil) return std::ceil(x);
  if (x - f == 0.5) return r == ResizeRounding::round_prefer_floor ? f : f + 1;
  return std::round(x);
}

}  // namespace

Expected resize_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<ResizeProblem>(problem);
  Expected e;
  e.out[0].assign(static_cast<size_t>(operand_sizes(problem).out[0]), untouched(operand_sizes(problem).out_types[0]));
  e.bound[0].assign(e.out[0].size(), 0);
  auto at = [&](const Extents& size, int64_t n, int64_t c, const int64_t* i, int64_t stride) {
    int64_t pixel = (i[0] * size[1] + i[1]) * size[2] + i[2], pixels = size[0] * size[1] * size[2];
    return static_cast<size_t>(p.layout == Layout::nhwc ? (n * pixels + pixel) * (stride ? stride : p.channels) + c
                                                        : (n * p.channels + c) * pixels + pixel);
  };
  int64_t o[3];
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t c = 0; c < p.channels; ++c)
      for (o[0] = 0; o[0] < p.out[0]; ++o[0])
        for (o[1] = 0; o[1] < p.out[1]; ++o[1])
          for (o[2] = 0; o[2] < p.out[2]; ++o[2]) {
            double sum = 0, magnitude = 0;
            for (int corner = 0; corner < 8; ++corner) {
              double weight = 1;
              int64_t i[3];
              for (size_t a = 0; a < 3; ++a) {
                double x = coordinate(p, a, static_cast<double>(o[a])), low = std::floor(x);
                bool high = corner >> a & 1;
                if (p.mode == ResizeMode::nearest) {
                  weight *= high ? 0 : 1;
                  low = nearest(p.rounding, x);
                } else {
                  weight *= high ? x - low : 1 - (x - low);
                }
                i[a] = static_cast<int64_t>(std::clamp(low + high, 0.0, static_cast<double>(p.in[a] - 1)));
              }
              double v = data.in[0][at(p.in, n, c, i, p.in_pixel_stride)];
              sum += weight * v;
              magnitude += std::abs(v);
            }
            size_t where = at(p.out, n, c, o, p.out_pixel_stride);
            e.out[0][where] = sum;
            if (p.mode == ResizeMode::linear) e.bound[0][where] = 16 * 0x1p-24 * magnitude;
          }
  return e;
}

namespace {

void check(ResizeProblem p) {
  p.n = 2;
  for (Layout layout : {Layout::nhwc, Layout::nchw})
    for (int64_t channels : {1, 3, 16, 21}) {
      p.layout = layout, p.channels = channels;
      check_rows(p, resize_oracle, {.integers = p.mode == ResizeMode::nearest});
    }
}

ResizeProblem resize2d(ResizeMode mode, int64_t h, int64_t w, int64_t oh, int64_t ow) {
  ResizeProblem p;
  p.mode = mode;
  p.in = {1, h, w}, p.out = {1, oh, ow};
  p.scale = {1, static_cast<double>(oh) / static_cast<double>(h), static_cast<double>(ow) / static_cast<double>(w)};
  return p;
}

TEST(Resize, EveryCoordinateRule) {
  for (int mode = 0; mode < 2; ++mode)
    for (int c = 0; c < 5; ++c)
      for (int r = 0; r < 4; ++r) {
        if (mode == 1 && r > 0) continue;
        ResizeProblem p = resize2d(static_cast<ResizeMode>(mode), 4, 5, 8, 15);
        p.coordinates = static_cast<ResizeCoordinates>(c);
        p.rounding = static_cast<ResizeRounding>(r);
        check(p);
        p.out = {1, 3, 1};
        p.scale = {1, 0.75, 0.25};  // not quite out / in
        check(p);
      }
}

TEST(Resize, Slices) {
  for (ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear}) {
    ResizeProblem p = resize2d(mode, 4, 5, 8, 15);
    p.n = 2, p.channels = 21, p.in_pixel_stride = 30, p.out_pixel_stride = 50;
    check_rows(p, resize_oracle, {.integers = p.mode == ResizeMode::nearest});
  }
}

TEST(Resize, OneAndThreeDimensions) {
  for (ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear}) {
    check(resize2d(mode, 1, 6, 1, 13));
    ResizeProblem p = resize2d(mode, 3, 4, 6, 6);
    p.in[0] = 2, p.out[0] = 3, p.scale[0] = 1.5;
    check(p);
  }
}

}  // namespace
}  // namespace trine::dnn::test
