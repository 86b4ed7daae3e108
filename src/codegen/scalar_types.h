// The types that scalar code computes in, and how memory types map to them.
#pragma once

#include "trine/base/dtype.h"

namespace trine::codegen {

// f16, bf16 and smaller floats compute in f32, integers below 32 bits in i32; none for strings and complex numbers.
inline DType compute_type(DType memory) {
  switch (memory) {
    case DType::f32:
    case DType::f64:
    case DType::i32:
    case DType::i64:
    case DType::u32:
    case DType::u64:
    case DType::boolean: return memory;
    default:
      if (is_float(memory)) return DType::f32;
      return is_integer(memory) ? DType::i32 : DType::none;
  }
}

// A memory type that its compute type holds as is, so that no value of the compute type needs rounding or wrapping.
inline bool is_compute_type(DType type) { return type != DType::none && compute_type(type) == type; }

inline bool is_unsigned_compute(DType type) { return type == DType::u32 || type == DType::u64; }

}  // namespace trine::codegen
