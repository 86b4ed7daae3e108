// The microkernels of f32; included by tile_baseline.cc, tile_avx2.cc and tile_avx512.cc.
#pragma once

#include "backends/cpu/kernels/gemm/tile_kernel.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

// A word is one f32.
struct F32 {
  static constexpr bool kPartWords = false;
  static constexpr bool kHalves = kWidth == kPanel;
  using Sum = V;
  using A = V;
  using B = V;

  [[gnu::always_inline]] static Sum start(const Tile&, int) { return zero(); }
  [[gnu::always_inline]] static B column(const float* b) { return load(b); }
  [[gnu::always_inline]] static A row(const char* a, const Tile&) {
    float x;
    std::memcpy(&x, a, sizeof x);
    return set1(x);
  }
  [[gnu::always_inline]] static void multiply(Sum& sum, A a, B b) { fma_into(sum, a, b); }
  [[gnu::always_inline]] static void multiply_row(Sum& sum, const char* a, B b, const Tile&) {
    fma_broadcast(sum, reinterpret_cast<const float*>(a), b);
  }
#if defined(__AVX512F__)
  [[gnu::always_inline]] static void multiply_half(Sum& sum, A a, B b) { fma_into_half(sum, a, b); }
  [[gnu::always_inline]] static void multiply_row_half(Sum& sum, const char* a, B b, const Tile&) {
    fma_broadcast_half(sum, reinterpret_cast<const float*>(a), b);
  }
#endif
  [[gnu::always_inline]] static void keep(float* to, Sum sum) { store(to, sum); }

  template <int kRows, int kPanels, bool kHalfPanel>
  static bool store_at_once(const Sums<F32, kRows, kPanels * kVectors>& s, const Tile& t);
  static void finish(const Tile& t, float* sums, int rows, int panels);
};

// One vector of columns, of which `left` exist, from sums `step` floats apart: scale, bias, residual, activation.
template <Activation kActivation, bool kPart>
[[gnu::always_inline]] inline void finish_column(const Tile& t, const float* sums, int step, int rows, int64_t column,
                                                 int left) {
  const TileEpilogue& e = *t.epilogue;
  const auto get = [left](const float* p) { return kPart ? load_part(p, left) : load(p); };
  unsigned adds = t.add_to_c, before = e.residual == dnn::Residual::before_activation,
           after = e.residual == dnn::Residual::after_activation;
  const int64_t residual = e.residual_offset;
  const float alpha = e.alpha, beta = e.beta;
  const V scale = set1(e.scale), bias = e.bias ? get(e.bias + column) : zero();
  for (int i = 0; i < rows; ++i, sums += step) {
    float* c = static_cast<float*>(t.c[i]) + column;
    asm volatile("" : "+r"(adds), "+r"(before), "+r"(after));  // else the loop would be there once for each of them
    V x = load(sums);
    if (adds) x = add(x, get(c));
    x = fma(x, scale, bias);
    if (before) x = add(x, get(c + residual));
    x = activate(kActivation, x, alpha, beta);
    if (after) x = add(x, get(c + residual));
    kPart ? store_part(c, x, left) : store(c, x);
  }
}

// The activation is chosen once for all sums, which are read column by column: bias and constants stay in registers.
template <Activation kActivation>
void finish_with(const Tile& t, float* sums, int rows, int panels) {
  const int step = panels * kPanel;
  for (int v = 0; v < t.columns; v += kWidth) {
    const int left = t.columns - v;
    if (left >= kWidth) finish_column<kActivation, false>(t, sums + v, step, rows, t.column + v, left);
    else finish_column<kActivation, true>(t, sums + v, step, rows, t.column + v, left);
  }
}

using Finish = void (*)(const Tile&, float*, int, int);
constexpr Finish kFinish[] = {
    finish_with<Activation::none>,       finish_with<Activation::relu>,        finish_with<Activation::clip>,
    finish_with<Activation::leaky_relu>, finish_with<Activation::sigmoid>,     finish_with<Activation::tanh>,
    finish_with<Activation::silu>,       finish_with<Activation::hardsigmoid>, finish_with<Activation::hardswish>,
    finish_with<Activation::gelu>,       finish_with<Activation::gelu_tanh>};

// Any epilogue, from sums in memory; not inlined, so that tiles stay small.
[[gnu::noinline]] void F32::finish(const Tile& t, float* sums, int rows, int panels) {
  if (t.finish) return kFinish[static_cast<int>(t.epilogue->activation)](t, sums, rows, panels);
  keep_sums(t, sums, rows, panels);
}

// Vector kColumn of every row; kPart: of which `left` columns exist.
template <int kColumn, bool kPart, int kRows, int kColumnVectors>
[[gnu::always_inline]] inline void store_column(const Sums<F32, kRows, kColumnVectors>& s, const Tile& t, int left) {
  const TileEpilogue& e = *t.epilogue;
  V low = set1(e.low), high = set1(e.high), scale = set1(e.scale);
  const int64_t column = t.column + kColumn * kWidth;
  V bias = !e.bias ? zero() : kPart ? load_part(e.bias + column, left) : load(e.bias + column);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* c = static_cast<float*>(t.c[i]) + column;
    V x = fma(s.v[i][kColumn], scale, bias);
    if (e.residual != dnn::Residual::none)
      x = add(x, kPart ? load_part(c + e.residual_offset, left) : load(c + e.residual_offset));
    x = vmin(high, vmax(low, x));
    if constexpr (kPart) store_part(c, x, left);
    else store(c, x);
  }
}

// The common epilogue straight from registers: a clamp, perhaps after a residual. All panels are full but a half one.
template <bool kHalfPanel, int kRows, int kColumnVectors, int... kColumn>
[[gnu::always_inline]] inline void store_clamped(const Sums<F32, kRows, kColumnVectors>& s, const Tile& t,
                                                 std::integer_sequence<int, kColumn...>) {
  constexpr int kLast = kColumnVectors - 1;
  const int left = t.columns - kLast * kWidth;
  (store_column<kColumn, (kHalfPanel && kColumn == kLast)>(s, t, left), ...);
}

template <int kRows, int kPanels, bool kHalfPanel>
[[gnu::always_inline]] inline bool F32::store_at_once(const Sums<F32, kRows, kPanels * kVectors>& s, const Tile& t) {
  const TileEpilogue& e = *t.epilogue;
  bool full = t.finish && !t.add_to_c && (kHalfPanel || t.columns == kPanels * kPanel);
  if (!is_tall(kRows, kPanels) || !full || !e.is_clamp || e.residual == dnn::Residual::after_activation) return false;
  store_clamped<kHalfPanel>(s, t, std::make_integer_sequence<int, kPanels * kVectors>());
  return true;
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

template <int kOne, int kTwo, int kThree, int kFour>
constexpr GemmIsa make_f32_isa(CpuLevel level, double flops_per_cycle) {
  GemmIsa isa = make_isa<F32, kOne, kTwo, kThree, kFour>(DType::f32, level, {}, flops_per_cycle);
  isa.pack_panel = pack_panel;
  isa.pack_panel_transposed = pack_panel_transposed;
  isa.transpose = transpose;
  return isa;
}

}  // namespace
}  // namespace trine::cpu
