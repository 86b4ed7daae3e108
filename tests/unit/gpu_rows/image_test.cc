// Pools and resizing on devices.
#include <gtest/gtest.h>

#include <cmath>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

const std::vector<DType> kAll = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8};

// Averages: sums of at most `terms` numbers of at most 256, each addition rounded.
CaseOptions sums_of(double terms, double most) {
  return {.bound = [=](double) { return (terms + 4) * 0x1p-24 * most; }};
}

PoolProblem pool(PoolKind kind, Layout layout, int64_t n, int64_t channels, int64_t size, int64_t kernel,
                 int64_t stride, int64_t pad) {
  PoolProblem p{.kind = kind, .n = n, .channels = channels, .in = {1, size, size + 1}, .kernel = {1, kernel, kernel}};
  p.layout = layout;
  p.stride = {1, stride, stride}, p.pad_begin = {0, pad, pad}, p.pad_end = {0, pad, pad};
  for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + 2 * pad - kernel) / stride + 1;
  return p;
}

TEST(DevicePool, KindsLayoutsTypes) {
  Cases cases;
  for (PoolKind kind : {PoolKind::max, PoolKind::average, PoolKind::average_with_pad})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (int64_t channels : {1, 3, 8, 33})
        cases.add(pool(kind, layout, 2, channels, 9, 3, 2, 1), channels == 8 ? kAll : std::vector{DType::f16},
                  sums_of(9, kind == PoolKind::max ? 0 : 256));
  cases.run();
}

TEST(DevicePool, StripsOfMaxima) {
  Cases cases;
  for (int64_t stride : {1, 2}) {
    CaseOptions options;
    options.least_rows = 2;
    PoolProblem p = pool(PoolKind::max, Layout::nhwc, 2, 72, 13, 3, stride, 1);
    cases.add(p, {DType::f32, DType::f16, DType::bf16}, options);
    p.in_pixel_stride = 80, p.out_pixel_stride = 88;
    options.adjust = [](CaseData& d) { d.set(0, 7, NAN), d.set(0, 90, INFINITY), d.set(0, 91, -INFINITY); };
    cases.add(p, {DType::f32, DType::f16, DType::bf16}, options);
    options.shift = 1;
    cases.add(p, {DType::f16}, options);
    options.shift = 0;
    cases.add(pool(PoolKind::max, Layout::nhwc, 1, 16, 9, 2, stride, 0), {DType::f16}, options);
    cases.add(pool(PoolKind::max, Layout::nhwc, 1, 8, 9, 5, stride, 2), {DType::bf16}, options);
  }
  cases.run();
}

TEST(DevicePool, LargeWindows) {
  Cases cases;
  for (PoolKind kind : {PoolKind::max, PoolKind::average})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (int64_t channels : {5, 64, 300}) {
        PoolProblem p = pool(kind, layout, 2, channels, 7, 7, 1, 0);
        p.kernel[2] = 8, p.out[2] = 1;
        CaseOptions options = sums_of(56, kind == PoolKind::max ? 0 : 256);
        options.least_rows = 2;
        cases.add(p, channels == 64 ? kAll : std::vector{DType::f32}, options);
      }
  cases.run();
}

TEST(DevicePool, VolumesDilationStridesAndShiftedAddresses) {
  Cases cases;
  for (PoolKind kind : {PoolKind::max, PoolKind::average, PoolKind::average_with_pad}) {
    PoolProblem p{.kind = kind, .n = 1, .channels = 10, .in = {5, 6, 7}, .out = {3, 3, 4}, .kernel = {2, 3, 2}};
    p.stride = {2, 2, 2}, p.dilation = {1, 2, 1}, p.pad_begin = {0, 2, 1}, p.pad_end = {1, 2, 0};
    p.in_pixel_stride = 13, p.out_pixel_stride = 24;
    CaseOptions options = sums_of(12, kind == PoolKind::max ? 0 : 256);
    cases.add(p, {DType::f32, DType::bf16}, options);
    options.shift = 1;
    p.in_pixel_stride = 16;
    cases.add(p, {DType::f32, DType::bf16}, options);
  }
  cases.run();
}

TEST(DevicePool, NanStaysAndEmptyBatch) {
  Cases cases;
  for (Layout layout : {Layout::nhwc, Layout::nchw}) {
    CaseOptions options;
    options.adjust = [](CaseData& d) { d.set(0, 7, NAN), d.set(0, 30, INFINITY), d.set(0, 31, -INFINITY); };
    cases.add(pool(PoolKind::max, layout, 1, 3, 6, 3, 1, 1), {DType::f32, DType::f16}, options);
    PoolProblem global = pool(PoolKind::max, layout, 1, 3, 6, 6, 1, 0);
    global.out[2] = 2;
    cases.add(global, {DType::f32}, options);
    cases.add(pool(PoolKind::max, layout, 0, 3, 6, 3, 1, 1));
  }
  cases.run();
}

ResizeProblem resize(ResizeMode mode, Layout layout, int64_t channels, Extents in, Extents out) {
  ResizeProblem p{.mode = mode, .n = 2, .channels = channels, .in = in, .out = out};
  p.layout = layout;
  for (size_t i = 0; i < 3; ++i) p.scale[i] = static_cast<double>(out[i]) / static_cast<double>(in[i]);
  return p;
}

TEST(DeviceResize, ModesLayoutsTypes) {
  Cases cases;
  for (ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (int64_t channels : {1, 8, 33}) {
        const CaseOptions options = sums_of(16, mode == ResizeMode::nearest ? 0 : 256);
        cases.add(resize(mode, layout, channels, {1, 5, 7}, {1, 10, 9}), kAll, options);
        cases.add(resize(mode, layout, channels, {3, 4, 5}, {2, 7, 3}), kAll, options);
      }
  cases.run();
}

TEST(DeviceResize, Coordinates) {
  Cases cases;
  using C = ResizeCoordinates;
  for (C c : {C::half_pixel, C::half_pixel_symmetric, C::pytorch_half_pixel, C::align_corners, C::asymmetric}) {
    ResizeProblem p = resize(ResizeMode::linear, Layout::nhwc, 3, {1, 6, 5}, {1, 1, 12});
    p.coordinates = c, p.in_pixel_stride = 4, p.out_pixel_stride = 5;
    p.scale[2] = 2.45;
    cases.add(p, sums_of(16, 8));
    p.mode = ResizeMode::nearest;
    using R = ResizeRounding;
    for (R r : {R::round_prefer_floor, R::round_prefer_ceil, R::floor, R::ceil}) {
      p.rounding = r;
      cases.add(p);
    }
  }
  cases.run();
}

}  // namespace
}  // namespace trine::dnn::test
