// The body of every microkernel: what does not depend on the number format. A format is an Op:
//
//   Sum, A, B                     registers: of sums, of one word of a row in every lane, of words of kWidth columns
//   kPartWords                    a row may end within a word
//   kHalves                       has multiply_half and multiply_row_half: only the lower half of a panel counts
//   start(t, v)                   what the sums of column vector v begin with
//   column(b), row(a, t)          load them
//   multiply(sum, a, b)           sum += a * b, all products of the word
//   multiply_row(sum, a, b, t)    the same with a in memory
//   store_at_once<..>(sums, t)    epilogue straight from registers; false: not this epilogue
//   keep(to, sum), finish(...)    sums to memory, the epilogue from there
#pragma once

#include <cstring>
#include <utility>

#include "backends/cpu/kernels/gemm/tile.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

constexpr int kVectors = kPanel / kWidth;  // of one panel

// Tiles whose sums may go on straight from their registers: the tall ones, which are most, lest there be much code.
constexpr bool is_tall(int rows, int panels) { return rows >= (kVectors > 1 || panels == kMaxPanels ? 5 : 7); }

// Calls body(sums, c, column, left) for each vector of a tile's sums in memory, with what it means in the matrix, whose
// elements have `bytes` bytes.
template <class Body>
[[gnu::always_inline]] inline void for_vectors(const Tile& t, float* sums, int rows, int panels, int bytes, Body body) {
  int vectors = panels * kVectors;
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors && v * kWidth < t.columns; ++v) {
      int64_t column = t.column + v * kWidth;
      body(sums + (i * vectors + v) * kWidth, static_cast<char*>(t.c[i]) + column * bytes, column,
           t.columns - v * kWidth);
    }
}

// f32 sums that a later block of k continues.
[[gnu::noinline]] inline void keep_sums(const Tile& t, float* sums, int rows, int panels) {
  for_vectors(t, sums, rows, panels, 4, [&](const float* x, void* to, int64_t, int left) {
    auto* c = static_cast<float*>(to);
    store_part(c, t.add_to_c ? add(load(x), load_part(c, left)) : load(x), left);
  });
}

// The accumulators, as an array that must live in registers: every index into it is a constant after unrolling.
template <class Op, int kRows, int kColumnVectors>
struct Sums {
  typename Op::Sum v[kRows][kColumnVectors];
};

// a_of(i) is where the word of row i stands.
template <class Op, int kRows, int kPanels, bool kHalfPanel, class AOf>
[[gnu::always_inline]] inline void add_step(Sums<Op, kRows, kPanels * kVectors>& s, AOf a_of, const float* const* b,
                                            const Tile& t) {
  typename Op::B columns[kPanels * kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kPanels * kVectors; ++j) columns[j] = Op::column(b[j / kVectors] + j % kVectors * kWidth);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    if constexpr (kPanels * kVectors == 1) {
      if constexpr (kHalfPanel) Op::multiply_row_half(s.v[i][0], a_of(i), columns[0], t);
      else Op::multiply_row(s.v[i][0], a_of(i), columns[0], t);
      continue;
    }
    typename Op::A x = Op::row(a_of(i), t);
    constexpr int kWhole = kPanels * kVectors - (kHalfPanel ? 1 : 0);
#pragma GCC unroll 8
    for (int j = 0; j < kWhole; ++j) Op::multiply(s.v[i][j], x, columns[j]);
    if constexpr (kHalfPanel) Op::multiply_half(s.v[i][kWhole], x, columns[kWhole]);
  }
  asm volatile("" ::: "memory");  // keeps loads of later steps from being hoisted into registers that are not there
}

// What counts of the last word of each row.
[[gnu::always_inline]] inline uint32_t masked_word(const char* from, uint32_t mask) {
  uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word & mask;
}

template <class Op, int kRows, int kPanels, bool kHalfPanel>
[[gnu::always_inline]] inline void add_tap(Sums<Op, kRows, kPanels * kVectors>& s, int tap, const Tile& t,
                                           const float*& panels, const float*& ahead) {
  const void* const* rows = t.a + tap * kRows;
  const char* a[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) a[i] = static_cast<const char*>(rows[i]) + t.a_offset;
  const float* b[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) b[p] = panels + p * t.panel_stride;
  int64_t step = t.k_stride;
  auto next_step = [&] {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) b[p] += step;
  };
#pragma GCC unroll 1
  for (int64_t k = 0; k < t.kc; ++k, ahead += t.prefetch_step) {
    add_step<Op, kRows, kPanels, kHalfPanel>(s, [&](int i) { return a[i] + k * 4; }, b, t);
    prefetch_l2(ahead);
    next_step();
  }
  panels += t.kc * step;
  if constexpr (Op::kPartWords) {
    if (!t.last_words && !t.last_mask) return;
    uint32_t masked[kRows];
    if (t.last_mask) {
#pragma GCC unroll 1  // tiles stay small
      for (int i = 0; i < kRows; ++i)
        masked[i] = masked_word(static_cast<const char*>(rows[i]) + t.a_offset + t.kc * 4, t.last_mask);
    }
    const uint32_t* last = t.last_mask ? masked : t.last_words + tap * kRows;
    add_step<Op, kRows, kPanels, kHalfPanel>(s, [&](int i) { return reinterpret_cast<const char*>(last + i); }, b, t);
    panels += step;
  }
}

template <class Op, int kRows, int kColumnVectors>
[[gnu::always_inline]] inline void start(Sums<Op, kRows, kColumnVectors>& s, const Tile& t) {
#pragma GCC unroll 8
  for (int j = 0; j < kColumnVectors; ++j) {
    typename Op::Sum sum = Op::start(t, j);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) s.v[i][j] = sum;
  }
}

// The epilogue by way of memory, of all rows but the first `skipped`.
template <class Op, int kRows, int kColumnVectors>
[[gnu::always_inline]] inline void finish_rows(const Sums<Op, kRows, kColumnVectors>& s, const Tile& t, int skipped) {
  constexpr int kRowFloats = kColumnVectors * kWidth;
  alignas(64) float sums[kRows * kRowFloats];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumnVectors; ++j) Op::keep(sums + i * kRowFloats + j * kWidth, s.v[i][j]);
  }
  Op::finish(t, sums + skipped * kRowFloats, kRows - skipped, kRowFloats / kPanel);
}

template <class Op, int kRows, int kPanels, bool kHalfPanel>
[[gnu::noinline]] void run_tile(const Tile& t) {
  Sums<Op, kRows, kPanels * kVectors> s;
  start(s, t);
  const float* panels = t.b;
  const float* ahead = t.prefetch;
  for (int tap = 0; tap < t.taps; ++tap) add_tap<Op, kRows, kPanels, kHalfPanel>(s, tap, t, panels, ahead);
  if (!Op::template store_at_once<kRows, kPanels, kHalfPanel>(s, t)) finish_rows(s, t, 0);
}

// Rows at one distance: of three one is reached through a register, the others by their distance from it.
template <class Op, int kRows, int kPanels>
[[gnu::noinline]] void run_line_tile(const LineTile& line) {
  const Tile& t = line.tile;
  constexpr int kPointers = (kRows + 2) / 3;
  Sums<Op, kRows, kPanels> s;
  start(s, t);
  const char* from = line.a;
  int64_t step = line.a_step;
  const float* b[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) b[p] = t.b + p * t.panel_stride;
  for (int tap = 0; tap < t.taps; ++tap, from += line.tap_step) {
    const char* a[kPointers];
#pragma GCC unroll 8
    for (int q = 0; q < kPointers; ++q) a[q] = from + 3 * q * step;
    const auto a_of = [&](int i) { return a[i / 3] + i % 3 * step; };
#pragma GCC unroll 1
    for (int64_t k = 0; k < t.kc; ++k) {
      add_step<Op, kRows, kPanels, false>(s, a_of, b, t);
#pragma GCC unroll 8
      for (int q = 0; q < kPointers; ++q) {
        a[q] += 4;
        asm volatile("" : "+r"(a[q]));  // lest all rows get a register
      }
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) b[p] += kPanel;
    }
    if (!Op::kPartWords || !t.last_mask) continue;
    uint32_t last[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) last[i] = masked_word(a_of(i), t.last_mask);
    add_step<Op, kRows, kPanels, false>(s, [&](int i) { return reinterpret_cast<const char*>(last + i); }, b, t);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) b[p] += kPanel;
  }
  if (line.skipped > 0 || !Op::template store_at_once<kRows, kPanels, false>(s, t)) finish_rows(s, t, line.skipped);
}

// The kernels of up to `kRows` rows by kPanels panels.
template <class Op, int kPanels, int... kRows>
constexpr void set_tiles(GemmIsa& isa, std::integer_sequence<int, kRows...>) {
  isa.max_rows[kPanels] = sizeof...(kRows);
  ((isa.tile[kPanels][kRows + 1] = run_tile<Op, kRows + 1, kPanels, false>), ...);
  // Tiles of many rows cut into even ones: few rows are rare, and whole panels do for them.
  constexpr int kMost = sizeof...(kRows);
  ((isa.half_panel_tile[kPanels][kRows + 1] =
        run_tile<Op, kRows + 1, kPanels, (Op::kHalves && kRows + 1 > kMost * 3 / 4)>),
   ...);
}

template <class Op, int kPanels, int kRows>
constexpr void set_line_tile(GemmIsa& isa) {
  isa.line_rows[kPanels] = kRows;
  isa.line_tile[kPanels] = run_line_tile<Op, kRows, kPanels>;
}

// Rows by number of panels: 0 makes none.
template <class Op, int kOne, int kTwo, int kThree, int kFour>
constexpr GemmIsa make_isa(DType format, CpuLevel level, CpuFeatures features, double flops_per_cycle) {
  static_assert(kOne >= kTwo && kTwo >= kThree && kThree >= kFour && kOne <= kMaxTileRows);
  GemmIsa isa{};
  isa.format = format;
  isa.level = level;
  isa.features = features;
  isa.flops_per_cycle = flops_per_cycle;
  set_tiles<Op, 1>(isa, std::make_integer_sequence<int, kOne>());
  set_tiles<Op, 2>(isa, std::make_integer_sequence<int, kTwo>());
  set_tiles<Op, 3>(isa, std::make_integer_sequence<int, kThree>());
  set_tiles<Op, 4>(isa, std::make_integer_sequence<int, kFour>());
  if constexpr (kWidth == kPanel) {  // 7 divides the widths of most images
    set_line_tile<Op, 1, 14>(isa);
    set_line_tile<Op, 2, 14>(isa);
  }
  return isa;
}

}  // namespace
}  // namespace trine::cpu
