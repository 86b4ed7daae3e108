// Bodies of the reduction kernels; included by reduce_baseline.cc, reduce_avx2.cc and reduce_avx512.cc. Averages are
// sums here, and norm2 sums of squares.
#pragma once

#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/primitives/reduce/reduce.h"

namespace trine::cpu {
namespace {

using dnn::ReduceKind;

constexpr int64_t kBlock = 1024;  // elements reduced in f32; what blocks give is put together in f64

[[gnu::always_inline]] inline V keep_nan(V a, V b) { return select(is_nan(a), a, b); }

template <ReduceKind kKind>
[[gnu::always_inline]] inline V step(V a, V x) {
  V magnitude = vmax(sub(zero(), x), x);
  switch (kKind) {
    case ReduceKind::add:
    case ReduceKind::avg: return add(a, x);
    case ReduceKind::mul: return mul(a, x);
    case ReduceKind::min: return keep_nan(a, vmin(a, x));
    case ReduceKind::max: return keep_nan(a, vmax(a, x));
    case ReduceKind::amax: return keep_nan(a, vmax(a, magnitude));
    case ReduceKind::norm1: return add(a, magnitude);
    case ReduceKind::norm2: return fma(x, x, a);
    case ReduceKind::mul_no_zeros: return mul(a, select(equal(x, zero()), set1(1.f), x));
  }
  return a;
}

// How results of parts are put together: as their elements, but that signs, squares and zeros are gone.
template <ReduceKind kKind>
double join(double a, double x) {
  switch (kKind) {
    case ReduceKind::mul:
    case ReduceKind::mul_no_zeros: return a * x;
    case ReduceKind::min: return a != a || a < x ? a : x;
    case ReduceKind::max:
    case ReduceKind::amax: return a != a || a > x ? a : x;
    default: return a + x;
  }
}

template <ReduceKind kKind>
V neutral() {
  if (kKind == ReduceKind::mul || kKind == ReduceKind::mul_no_zeros) return set1(1.f);
  if (kKind == ReduceKind::min) return set1(__builtin_inff());
  if (kKind == ReduceKind::max) return set1(-__builtin_inff());
  return zero();
}

template <ReduceKind kKind>
double reduce_row(const float* x, int64_t n, double so_far) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    V result = neutral<kKind>();
    int64_t i = begin;
    for (; i + kWidth <= end; i += kWidth) result = step<kKind>(result, load(x + i));
    float lane[kWidth] = {};
    store(lane, result);
    for (int l = 0; l < kWidth; ++l) so_far = join<kKind>(so_far, static_cast<double>(lane[l]));
    if (i == end) continue;
    store(lane, step<kKind>(neutral<kKind>(), load_part(x + i, static_cast<int>(end - i))));
    for (int l = 0; l < end - i; ++l) so_far = join<kKind>(so_far, static_cast<double>(lane[l]));
  }
  return so_far;
}

template <ReduceKind kKind>
void reduce_columns(const float* x, int64_t rows, int64_t stride, int columns, float* result) {
  for (int c = 0; c < columns; c += kWidth) {
    const int n = columns - c < kWidth ? columns - c : kWidth;
    V sums = load_part(result + c, n);
    for (int64_t row = 0; row < rows; ++row) sums = step<kKind>(sums, load_part(x + row * stride + c, n));
    store_part(result + c, sums, n);
  }
}

template <class Body>
[[gnu::always_inline]] inline auto with_kind(ReduceKind kind, Body body) {
  switch (kind) {
    case ReduceKind::mul: return body.template operator()<ReduceKind::mul>();
    case ReduceKind::min: return body.template operator()<ReduceKind::min>();
    case ReduceKind::max: return body.template operator()<ReduceKind::max>();
    case ReduceKind::amax: return body.template operator()<ReduceKind::amax>();
    case ReduceKind::norm1: return body.template operator()<ReduceKind::norm1>();
    case ReduceKind::norm2: return body.template operator()<ReduceKind::norm2>();
    case ReduceKind::mul_no_zeros: return body.template operator()<ReduceKind::mul_no_zeros>();
    default: return body.template operator()<ReduceKind::add>();
  }
}

double row(ReduceKind kind, const float* x, int64_t n, double so_far) {
  return with_kind(kind, [&]<ReduceKind kKind>() { return reduce_row<kKind>(x, n, so_far); });
}
void columns(ReduceKind kind, const float* x, int64_t rows, int64_t stride, int count, float* result) {
  with_kind(kind, [&]<ReduceKind kKind>() { reduce_columns<kKind>(x, rows, stride, count, result); });
}

constexpr ReduceIsa kKernels = {row, columns};

}  // namespace
}  // namespace trine::cpu
