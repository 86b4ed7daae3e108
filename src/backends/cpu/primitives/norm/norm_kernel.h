// Bodies of the normalisation kernels; included by norm_baseline.cc, norm_avx2.cc and norm_avx512.cc.
#pragma once

#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/primitives/norm/norm.h"

namespace trine::cpu {
namespace {

constexpr int64_t kBlock = 1024;  // elements summed in f32; sums of blocks are f64

[[gnu::always_inline]] inline int part(int64_t left) { return static_cast<int>(left < kWidth ? left : kWidth); }
[[gnu::always_inline]] inline V load_or(const float* p, int64_t at, bool by_column, int n) {
  return by_column ? load_part(p + at, n) : set1(*p);
}

double sum(const float* x, int64_t n) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    V sums = zero();
    for (int64_t i = begin; i < end; i += kWidth) sums = add(sums, load_part(x + i, part(end - i)));
    total += static_cast<double>(reduce_add(sums));
  }
  return total;
}

// The lanes past the end hold 0 - mean: they are taken out by multiplying with a lane of zeros.
[[gnu::always_inline]] inline V present(int n) {
  static constexpr float kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return load_part(kOnes, n);
}

double squares(const float* x, float mean, int64_t n) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    V sums = zero();
    for (int64_t i = begin; i < end; i += kWidth) {
      const int m = part(end - i);
      V d = sub(load_part(x + i, m), mul(set1(mean), present(m)));
      sums = fma(d, d, sums);
    }
    total += static_cast<double>(reduce_add(sums));
  }
  return total;
}

// dy where the relu let x through.
[[gnu::always_inline]] inline V passed(const NormTile& t, int64_t at, int n) {
  V dy = load_part(t.dy + at, n);
  if (!t.y) return dy;
  V y = load_part(t.y + at, n);
  return select(less(y, zero()), zero(), select(equal(y, zero()), zero(), dy));
}

[[gnu::always_inline]] inline V normalised(const NormTile& t, int64_t row, int64_t c, int n) {
  const int64_t stats = row * t.stats_step;
  V d = sub(load_part(t.x + row * t.ld + c, n), load_or(t.mean + stats, c, t.stats_by_column, n));
  return mul(d, load_or(t.inverse + stats, c, t.stats_by_column, n));
}

void gradient_sums(const NormTile& t, double* sums) {
  sums[0] = sums[1] = 0;
  for (int64_t begin = 0; begin < t.columns; begin += kBlock) {
    const int64_t end = t.columns - begin < kBlock ? t.columns : begin + kBlock;
    V of_h = zero(), of_hx = zero();
    for (int64_t c = begin; c < end; c += kWidth) {
      const int n = part(end - c);
      V h = passed(t, c, n);
      if (t.scale) h = mul(h, load_or(t.scale, c, t.scale_by_column, n));
      of_h = add(of_h, h);
      // x of 0 past the end is no number of this row, but h is 0 there.
      of_hx = fma(h, normalised(t, 0, c, n), of_hx);
    }
    sums[0] += static_cast<double>(reduce_add(of_h));
    sums[1] += static_cast<double>(reduce_add(of_hx));
  }
}

void column_sums(const NormTile& t) {
  for (int64_t c = 0; c < t.columns; c += kWidth) {
    const int n = part(t.columns - c);
    V sums = zero();
    for (int64_t row = 0; row < t.rows; ++row) sums = add(sums, load_part(t.x + row * t.ld + c, n));
    store_part(t.sum + c, sums, n);
  }
}

void column_squares(const NormTile& t) {
  for (int64_t c = 0; c < t.columns; c += kWidth) {
    const int n = part(t.columns - c);
    const V mean = load_part(t.mean + c, n);
    V sums = zero();
    for (int64_t row = 0; row < t.rows; ++row) {
      V d = sub(load_part(t.x + row * t.ld + c, n), mean);
      sums = fma(d, d, sums);
    }
    store_part(t.sum + c, sums, n);
  }
}

void column_gradient_sums(const NormTile& t) {
  for (int64_t c = 0; c < t.columns; c += kWidth) {
    const int n = part(t.columns - c);
    V of_dy = zero(), of_dyx = zero();
    for (int64_t row = 0; row < t.rows; ++row) {
      V dy = passed(t, row * t.ld + c, n);
      of_dy = add(of_dy, dy);
      of_dyx = fma(dy, normalised(t, row, c, n), of_dyx);
    }
    store_part(t.sum + c, of_dy, n);
    store_part(t.sum_x + c, of_dyx, n);
  }
}

void apply(const NormTile& t) {
  for (int64_t c = 0; c < t.columns; c += kWidth) {
    const int n = part(t.columns - c);
    const V scale = t.scale ? load_or(t.scale, c, t.scale_by_column, n) : set1(1);
    const V shift = t.shift ? load_or(t.shift, c, t.scale_by_column, n) : zero();
    for (int64_t row = 0; row < t.rows; ++row) {
      V y = fma(normalised(t, row, c, n), scale, shift);
      if (t.z) y = add(y, load_part(t.z + row * t.ld + c, n));
      store_part(t.out + row * t.ld + c, t.relu ? vmax(zero(), y) : y, n);
    }
  }
}

void apply_gradient(const NormTile& t) {
  for (int64_t c = 0; c < t.columns; c += kWidth) {
    const int n = part(t.columns - c);
    const V scale = t.scale ? load_or(t.scale, c, t.scale_by_column, n) : set1(1);
    const V mean_h = load_or(t.mean_h, c, t.stats_by_column, n), mean_hx = load_or(t.mean_hx, c, t.stats_by_column, n);
    const V inverse = load_or(t.inverse, c, t.stats_by_column, n);
    for (int64_t row = 0; row < t.rows; ++row) {
      V dy = passed(t, row * t.ld + c, n);
      if (t.dz) store_part(t.dz + row * t.ld + c, dy, n);
      V dx = fnma(normalised(t, row, c, n), mean_hx, sub(mul(dy, scale), mean_h));
      store_part(t.out + row * t.ld + c, mul(dx, inverse), n);
    }
  }
}

constexpr NormIsa kKernels = {sum,   squares,       gradient_sums, column_sums, column_squares, column_gradient_sums,
                              apply, apply_gradient};

}  // namespace
}  // namespace trine::cpu
