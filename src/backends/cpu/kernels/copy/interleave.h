// Transposes of which one dimension is short: a few long rows become one row of small groups, or the reverse.
//
//   together   a a a a a ..              apart   the way back: planes of colours, halves of channels
//              b b b b b ..  ->  a b a b a b a b a b ..
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

constexpr int64_t kFewest = 2, kFew = 4;  // rows that have kernels

// `n` elements of each row, which are `stride` elements apart.
using InterleaveFunction = void (*)(const void* from, void* to, int64_t stride, int64_t n);

struct InterleaveIsa {  // [log2 of an element's bytes, at most 4][rows - kFewest]
  InterleaveFunction together[3][kFew - kFewest + 1], apart[3][kFew - kFewest + 1];
};
extern const InterleaveIsa kInterleaveBaseline;
#if defined(__x86_64__)
extern const InterleaveIsa kInterleaveAvx2, kInterleaveAvx512;
#endif
const InterleaveIsa& interleave_isa(CpuLevel level);

}  // namespace trine::cpu
