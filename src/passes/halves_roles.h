// What nodes can do with halves, for use_halves.
#pragma once

#include <string>

#include "passes/match.h"

namespace trine {

enum class HalfRole : uint8_t {
  none,     // knows f32 only
  product,  // reads halves, sums in f32, writes what is asked for (attribute `out`)
  typed,    // writes what it reads
  move,     // elements go elsewhere: what it writes is what it reads
  loop,     // a generated kernel: every operand may be of another type
};

HalfRole half_role(const Rewriter& r, int n);

// Input i of n may be a half. Biases and masks stay f32; shapes and indices are no floats.
bool may_read_half(const Rewriter& r, int n, int i);

// Why output `at` of loop node n should not be stored as a half: its values leave the range. Empty: nothing speaks
// against it.
std::string why_wide(const Rewriter& r, int n, size_t at, DType half);

// Why the constant should not be converted; empty: it may be.
std::string why_wide(const Tensor& constant, DType half);

}  // namespace trine
