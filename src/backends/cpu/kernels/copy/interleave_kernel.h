// Bodies of the interleaving kernels; included by interleave_baseline.cc, interleave_avx2.cc and interleave_avx512.cc.
// Blocks of constant size are what compilers turn into loads, permutations and stores of whole vectors; the last block
// of a row ends at its end and may overlap the one before.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/copy/interleave.h"

namespace trine::cpu {
namespace {

constexpr int kBlock = 16;  // elements of a row

template <class T, int kRows>
struct Together {
  template <int kCount>
  [[gnu::always_inline]] static void copy(const T* __restrict from, T* __restrict to, int64_t stride, int64_t at) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int i = 0; i < kCount; ++i)
      for (int row = 0; row < kRows; ++row) to[(at + i) * kRows + row] = from[row * stride + at + i];
  }
};

template <class T, int kRows>
struct Apart {
  template <int kCount>
  [[gnu::always_inline]] static void copy(const T* __restrict from, T* __restrict to, int64_t stride, int64_t at) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int i = 0; i < kCount; ++i)
      for (int row = 0; row < kRows; ++row) to[row * stride + at + i] = from[(at + i) * kRows + row];
  }
};

template <class Way, int kCount, class T>
[[gnu::always_inline]] inline void in_blocks(const T* from, T* to, int64_t stride, int64_t n) {
#pragma GCC unroll 1
  for (int64_t at = 0; at < n; at += kCount) Way::template copy<kCount>(from, to, stride, std::min(at, n - kCount));
}

template <class Way, class T>
void interleave(const void* from, void* to, int64_t stride, int64_t n) {
  auto* in = static_cast<const T*>(from);
  auto* out = static_cast<T*>(to);
  n < kBlock ? in_blocks<Way, 1>(in, out, stride, n) : in_blocks<Way, kBlock>(in, out, stride, n);
}

template <template <class, int> class Way, class T>
constexpr void fill(InterleaveFunction (&row)[kFew - kFewest + 1]) {
  row[0] = interleave<Way<T, 2>, T>;
  row[1] = interleave<Way<T, 3>, T>;
  row[2] = interleave<Way<T, 4>, T>;
}

template <template <class, int> class Way>
constexpr void fill(InterleaveFunction (&table)[3][kFew - kFewest + 1]) {
  fill<Way, uint8_t>(table[0]);
  fill<Way, uint16_t>(table[1]);
  fill<Way, uint32_t>(table[2]);
}

constexpr InterleaveIsa make_interleave_isa() {
  InterleaveIsa isa{};
  fill<Together>(isa.together);
  fill<Apart>(isa.apart);
  return isa;
}

}  // namespace
}  // namespace trine::cpu
