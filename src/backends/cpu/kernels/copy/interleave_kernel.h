// Bodies of the interleaving kernels; included by interleave_baseline.cc, interleave_avx2.cc and interleave_avx512.cc.
// Blocks of constant size are what compilers turn into loads, permutations and stores of whole vectors; the last block
// of a row ends at its end and may overlap the one before.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/copy/interleave.h"

namespace trine::cpu {
namespace {

template <class T, int kRows>
struct Together {
  [[gnu::always_inline]] static void copy(const T* __restrict from, T* __restrict to, int64_t stride, int64_t at) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t i = 0; i < kLeastLong; ++i)
      for (int row = 0; row < kRows; ++row) to[(at + i) * kRows + row] = from[row * stride + at + i];
  }
};

template <class T, int kRows>
struct Apart {
  [[gnu::always_inline]] static void copy(const T* __restrict from, T* __restrict to, int64_t stride, int64_t at) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t i = 0; i < kLeastLong; ++i)
      for (int row = 0; row < kRows; ++row) to[row * stride + at + i] = from[(at + i) * kRows + row];
  }
};

template <class Way, class T>
void interleave(const void* from, void* to, int64_t stride, int64_t n) {
#pragma GCC unroll 1
  for (int64_t at = 0; at < n; at += kLeastLong)
    Way::copy(static_cast<const T*>(from), static_cast<T*>(to), stride, std::min(at, n - kLeastLong));
}

template <template <class, int> class Way, class T>
constexpr void fill(InterleaveFunction (&row)[kFew - kFewest + 1]) {
  row[0] = interleave<Way<T, 2>, T>;
  row[1] = interleave<Way<T, 3>, T>;
  row[2] = interleave<Way<T, 4>, T>;
}

constexpr InterleaveIsa make_interleave_isa() {
  InterleaveIsa isa{};
  fill<Together, uint16_t>(isa.together_2);
  fill<Together, uint32_t>(isa.together_4);
  fill<Apart, uint16_t>(isa.apart_2);
  fill<Apart, uint32_t>(isa.apart_4);
  return isa;
}

}  // namespace
}  // namespace trine::cpu
