// Element types as sets.
#pragma once

#include "graph/infer.h"

namespace trine {

// Sets of element types; combine with |.
enum TypeSet : unsigned {
  kFloats = 1,    // f16, bf16, f32, f64
  kIntegers = 2,  // 8 to 64 bits, signed and unsigned
  kBooleans = 4,
  kStrings = 8,
  kTinyFloats = 16,    // the f8, f6 and f4 formats
  kTinyIntegers = 32,  // i4, u4, i2, u2
  kComplex = 64,
  kNumbers = kFloats | kIntegers,
};

// Rank 0; note that Shape{} has no known rank.
inline Shape scalar_shape() { return Shape(std::vector<Dim>{}); }

unsigned type_set(DType type);  // the one set that holds it; 0 for none
bool is_unsigned(DType type);
int bit_width(DType type);  // of the value: 4 for i4

}  // namespace trine
