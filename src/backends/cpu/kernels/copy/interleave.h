// Transposes of which one dimension is short: a few long rows become one row of small groups, or the reverse.
//
//   together   a a a a a ..              apart   the way back: planes of colours, halves of channels
//              b b b b b ..  ->  a b a b a b a b a b ..
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

constexpr int64_t kFewest = 2, kFew = 4;  // rows that have kernels
constexpr int64_t kLeastLong = 16;        // elements of a row

// `n` elements of each row, at least kLeastLong; the rows are `stride` elements apart.
using InterleaveFunction = void (*)(const void* from, void* to, int64_t stride, int64_t n);

struct InterleaveIsa {
  InterleaveFunction together_2[kFew - kFewest + 1], apart_2[kFew - kFewest + 1];  // elements of 2 bytes
  InterleaveFunction together_4[kFew - kFewest + 1], apart_4[kFew - kFewest + 1];  // and of 4

  // Null where there is none.
  InterleaveFunction together(int64_t bytes, int64_t rows, int64_t n) const {
    return find(bytes, rows, n, together_2, together_4);
  }
  InterleaveFunction apart(int64_t bytes, int64_t rows, int64_t n) const {
    return find(bytes, rows, n, apart_2, apart_4);
  }

 private:
  using Row = InterleaveFunction[kFew - kFewest + 1];
  static InterleaveFunction find(int64_t bytes, int64_t rows, int64_t n, const Row& of_2, const Row& of_4) {
    if (rows < kFewest || rows > kFew || n < kLeastLong || (bytes != 2 && bytes != 4)) return nullptr;
    return (bytes == 2 ? of_2 : of_4)[rows - kFewest];
  }
};
extern const InterleaveIsa kInterleaveBaseline;
#if defined(__x86_64__)
extern const InterleaveIsa kInterleaveAvx2, kInterleaveAvx512;
#endif
const InterleaveIsa& interleave_isa(CpuLevel level);

}  // namespace trine::cpu
