// Bodies of the microkernels; included by tile_baseline.cc, tile_avx2.cc and tile_avx512.cc.
#pragma once

#include "backends/cpu/kernels/gemm/tile.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

constexpr int kVectors = kPanel / kWidth;  // of one panel
constexpr int kPrefetches = 4;             // cache lines per 4 k

// Any epilogue, from sums in memory; not inlined, so that tiles stay small.
[[gnu::noinline]] void finish_rows(const Tile& t, const float* sums, int rows, int panels) {
  const TileEpilogue& e = *t.epilogue;
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < panels * kVectors; ++v) {
      int left = t.columns - v * kWidth;
      if (left <= 0) break;
      float* c = t.c[i] + t.column + v * kWidth;
      V x = load(sums + (i * panels * kVectors + v) * kWidth);
      if (t.add_to_c) x = add(x, load_part(c, left));
      if (t.finish) {
        x = fma(x, set1(e.scale), e.bias ? load_part(e.bias + t.column + v * kWidth, left) : zero());
        V residual = e.residual == dnn::Residual::none ? zero() : load_part(c + e.residual_offset, left);
        if (e.residual == dnn::Residual::before_activation) x = add(x, residual);
        x = activate(e.activation, x, e.alpha, e.beta);
        if (e.residual == dnn::Residual::after_activation) x = add(x, residual);
      }
      store_part(c, x, left);
    }
  }
}

// The accumulators, as an array that must live in registers: every index into it is a constant after unrolling.
template <int kRows, int kColumnVectors>
struct Sums {
  V v[kRows][kColumnVectors];
};

template <int kRows, int kPanels>
[[gnu::always_inline]] inline void add_step(Sums<kRows, kPanels * kVectors>& s, const float* const* a, int64_t k,
                                            const float* const* b) {
  V row[kPanels * kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kPanels * kVectors; ++j) row[j] = load(b[j / kVectors] + j % kVectors * kWidth);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    if (kPanels * kVectors == 1) {
      fma_broadcast(s.v[i][0], a[i] + k, row[0]);
      continue;
    }
    V x = set1(a[i][k]);
#pragma GCC unroll 8
    for (int j = 0; j < kPanels * kVectors; ++j) fma_into(s.v[i][j], x, row[j]);
  }
  asm volatile("" ::: "memory");  // keeps loads of later steps from being hoisted into registers that are not there
}

template <int kRows, int kPanels>
[[gnu::always_inline]] inline void add_tap(Sums<kRows, kPanels * kVectors>& s, const float* const* rows, const Tile& t,
                                           const float*& panels, const float*& ahead) {
  const float* a[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) a[i] = rows[i] + t.a_offset;
  const float* b[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) b[p] = panels + p * t.panel_stride;
  int64_t step = t.k_stride;
  int64_t k = 0;
#pragma GCC unroll 1
  for (; k + 4 <= t.kc; k += 4) {
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      add_step<kRows, kPanels>(s, a, k + u, b);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) b[p] += step;
    }
#pragma GCC unroll 4
    for (int q = 0; q < kPrefetches; ++q) prefetch_l2(ahead + q * kPanel);
    ahead += t.prefetch_step;
  }
#pragma GCC unroll 1
  for (; k < t.kc; ++k) {
    add_step<kRows, kPanels>(s, a, k, b);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) b[p] += step;
  }
  panels += t.kc * step;
}

// The common epilogue on full panels, straight from registers.
template <int kRows, int kPanels>
[[gnu::always_inline]] inline void store_clamped(const Sums<kRows, kPanels * kVectors>& s, const Tile& t) {
  const TileEpilogue& e = *t.epilogue;
  V low = set1(e.low), high = set1(e.high), scale = set1(e.scale);
#pragma GCC unroll 8
  for (int j = 0; j < kPanels * kVectors; ++j) {
    V bias = e.bias ? load(e.bias + t.column + j * kWidth) : zero();
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      float* c = t.c[i] + t.column + j * kWidth;
      V x = s.v[i][j];
      if (t.add_to_c) x = add(x, load(c));
      x = fma(x, scale, bias);
      if (e.residual == dnn::Residual::before_activation) x = add(x, load(c + e.residual_offset));
      x = vmin(high, vmax(low, x));
      if (e.residual == dnn::Residual::after_activation) x = add(x, load(c + e.residual_offset));
      store(c, x);
    }
  }
}

template <int kRows, int kPanels>
[[gnu::noinline]] void run_tile(const Tile& t) {
  Sums<kRows, kPanels * kVectors> s;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kPanels * kVectors; ++j) s.v[i][j] = zero();
  }
  const float* panels = t.b;
  const float* ahead = t.prefetch;
  for (int tap = 0; tap < t.taps; ++tap) add_tap<kRows, kPanels>(s, t.a + tap * kRows, t, panels, ahead);
  if (t.finish && t.epilogue->is_clamp && t.columns == kPanels * kPanel) return store_clamped<kRows, kPanels>(s, t);
  float sums[kRows * kPanels * kPanel];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kPanels * kVectors; ++j) store(sums + (i * kPanels * kVectors + j) * kWidth, s.v[i][j]);
  }
  finish_rows(t, sums, kRows, kPanels);
}

void pack_panel(const float* src, int64_t ld, int64_t k, int columns, float* dst) {
  for (int64_t i = 0; i < k; ++i, src += ld, dst += kPanel)
    for (int v = 0; v < kVectors; ++v) store(dst + v * kWidth, load_part(src + v * kWidth, columns - v * kWidth));
}

void transpose_any(const float* src, int64_t lds, float* dst, int64_t ldd, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) dst[j * ldd + i] = src[i * lds + j];
}

// The destination's outer index runs outermost: its lines are written whole.
void transpose(const float* src, int64_t lds, float* dst, int64_t ldd, int64_t rows, int64_t columns) {
  int64_t whole_rows = rows / 16 * 16, whole_columns = columns / 16 * 16;
  for (int64_t j = 0; j < whole_columns; j += 16)
    for (int64_t i = 0; i < whole_rows; i += 16) transpose_block(src + i * lds + j, lds, dst + j * ldd + i, ldd);
  transpose_any(src + whole_rows * lds, lds, dst + whole_rows, ldd, rows - whole_rows, whole_columns);
  transpose_any(src + whole_columns, lds, dst + whole_columns * ldd, ldd, rows, columns - whole_columns);
}

void pack_panel_transposed(const float* src, int64_t ld, int64_t k, int columns, float* dst) {
  transpose(src, ld, dst, kPanel, columns, k);
  for (int64_t i = 0; columns < kPanel && i < k; ++i)
    for (int j = columns; j < kPanel; ++j) dst[i * kPanel + j] = 0;
}

}  // namespace
}  // namespace trine::cpu
