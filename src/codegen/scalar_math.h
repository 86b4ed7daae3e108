// Functions that renderers call lane by lane: rare ones, and every elementary function in f64. Both the interpreter and
// compiled code reach them through this table, so they agree. f32 arguments are widened and the result rounded.
#pragma once

#include "codegen/scalar.h"
#include "trine/base/dtype.h"

namespace trine::codegen {

constexpr int kScalarOpCount = static_cast<int>(ScalarOp::logical_xor) + 1;

// Entry [op]: double(*)(double), or double(*)(double, double) for mod, fmod and pow; null for what has no function.
const void* const* math_table();

// Is `op` on this type computed through the table?
constexpr bool is_table_op(ScalarOp op, DType type) {
  if (type != DType::f32 && type != DType::f64) return false;
  switch (op) {
    case ScalarOp::exp:
    case ScalarOp::log:
    case ScalarOp::tanh:
    case ScalarOp::erf: return type == DType::f64;
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::asin:
    case ScalarOp::acos:
    case ScalarOp::atan:
    case ScalarOp::sinh:
    case ScalarOp::cosh:
    case ScalarOp::asinh:
    case ScalarOp::acosh:
    case ScalarOp::atanh:
    case ScalarOp::mod:
    case ScalarOp::fmod:
    case ScalarOp::pow: return true;
    default: return false;
  }
}

constexpr bool is_binary(ScalarOp op) { return op >= ScalarOp::add; }

// The 256 values of an 8-bit or smaller float format; null for another type.
const float* small_float_table(DType type);

// Rounds to a storage format of at most 16 bits, out-of-range values saturating for the f8, f6 and f4 formats when
// `saturate`, else becoming infinity or NaN.
unsigned short small_float_store(DType type, float value, bool saturate);

}  // namespace trine::codegen
