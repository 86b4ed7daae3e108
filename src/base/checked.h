// Checked int64 arithmetic for sizes that come from a file: overflow is an Error, never a wrap.
#pragma once

#include <cstdint>

#include "trine/base/error.h"

namespace trine {

[[noreturn]] inline void size_overflow() {
  throw Error(ErrorCode::invalid_model, "size: arithmetic on dimensions overflows 64 bits; sizes must stay below 2^47");
}

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) size_overflow();
  return r;
}

inline int64_t checked_sub(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) size_overflow();
  return r;
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) size_overflow();
  return r;
}

// Rounds toward minus infinity. b must not be 0.
inline int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) return checked_sub(0, a);
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// a - floor_divide(a, b) * b: takes the sign of b. b must not be 0.
inline int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

}  // namespace trine
