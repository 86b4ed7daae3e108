// Bodies of the microkernels; included by tile_baseline.cc, tile_avx2.cc and tile_avx512.cc.
#pragma once

#include "backends/cpu/kernels/gemm/tile.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

constexpr int kVectors = kPanel / kWidth;  // of one panel
constexpr int kPrefetches = 4;             // cache lines per 4 k

// Calls body(sums, c, column, left) for each vector of a tile's sums in memory, with what it means in the matrix.
template <class Body>
[[gnu::always_inline]] inline void for_vectors(const Tile& t, const float* sums, int rows, int panels, Body body) {
  int vectors = panels * kVectors;
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors && v * kWidth < t.columns; ++v)
      body(sums + (i * vectors + v) * kWidth, t.c[i] + t.column + v * kWidth, v * kWidth, t.columns - v * kWidth);
}

// One pass over the sums: scale, bias, residual, activation, store. The activation is chosen once for all.
template <Activation kActivation>
void finish_with(const Tile& t, const float* sums, int rows, int panels) {
  const TileEpilogue& e = *t.epilogue;
  bool before = e.residual == dnn::Residual::before_activation, after = e.residual == dnn::Residual::after_activation;
  V scale = set1(e.scale);
  for_vectors(t, sums, rows, panels, [&](const float* x, float* c, int column, int left) {
    V sum = load(x);
    if (t.add_to_c) sum = add(sum, load_part(c, left));
    V y = fma(sum, scale, e.bias ? load_part(e.bias + t.column + column, left) : zero());
    if (before) y = add(y, load_part(c + e.residual_offset, left));
    y = activate(kActivation, y, e.alpha, e.beta);
    if (after) y = add(y, load_part(c + e.residual_offset, left));
    store_part(c, y, left);
  });
}

using Finish = void (*)(const Tile&, const float*, int, int);
constexpr Finish kFinish[] = {
    finish_with<Activation::none>,       finish_with<Activation::relu>,        finish_with<Activation::clip>,
    finish_with<Activation::leaky_relu>, finish_with<Activation::sigmoid>,     finish_with<Activation::tanh>,
    finish_with<Activation::silu>,       finish_with<Activation::hardsigmoid>, finish_with<Activation::hardswish>,
    finish_with<Activation::gelu>,       finish_with<Activation::gelu_tanh>};

// Any epilogue, from sums in memory; not inlined, so that tiles stay small.
[[gnu::noinline]] void finish_rows(const Tile& t, const float* sums, int rows, int panels) {
  if (t.finish) return kFinish[static_cast<int>(t.epilogue->activation)](t, sums, rows, panels);
  for_vectors(t, sums, rows, panels, [&](const float* x, float* c, int, int left) {
    store_part(c, t.add_to_c ? add(load(x), load_part(c, left)) : load(x), left);
  });
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

// What the epilogue will touch starts its way to L1 while the sums are made.
template <int kRows, int kPanels>
[[gnu::always_inline]] inline void prefetch_outputs(const Tile& t) {
  bool reads = t.epilogue->residual != dnn::Residual::none && t.finish;
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) __builtin_prefetch(t.c[i] + t.column + p * kPanel, 1, 3);
    if (!reads) continue;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) prefetch_l1(t.c[i] + t.column + p * kPanel + t.epilogue->residual_offset);
  }
}

template <int kRows, int kPanels>
[[gnu::noinline]] void run_tile(const Tile& t) {
  prefetch_outputs<kRows, kPanels>(t);
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
  if (rows == 0 || columns == 0) return;  // pointers may be null
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
