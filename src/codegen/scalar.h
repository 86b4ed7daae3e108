// The scalar language of loop IR and of kernel epilogues: one small set of operations that every renderer (vector
// interpreter, LLVM, CUDA C++) implements with the same formulas, so that results agree to the bit.
#pragma once

#include <cstdint>

namespace trine::codegen {

// Compute types are f32, f64, i32, i64, u32, u64 and boolean. Integer arithmetic wraps.
enum class ScalarOp : uint8_t {
  // one operand
  neg,
  abs,
  sign,
  sqrt,
  reciprocal,
  exp,
  log,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  floor,
  ceil,
  round,
  trunc,  // round: half to even
  is_nan,
  is_inf,
  logical_not,
  bit_not,
  // two operands
  add,
  sub,
  mul,
  div,
  mod,
  fmod,
  pow,  // integer div truncates (x/0 = 0); mod takes the divisor's sign, fmod the dividend's
  min,
  max,  // NaN if either is NaN
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  less,
  less_equal,
  equal,  // boolean; false with NaN
  logical_and,
  logical_or,
  logical_xor,
};

enum class Reduce : uint8_t { sum, prod, min, max, any, all };

struct Scalar {
  int id = -1;  // index into the kernel's instruction list
};

}  // namespace trine::codegen
