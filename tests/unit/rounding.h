// Rounding of element types, for tolerances.
#pragma once

#include "trine/base/dtype.h"

namespace trine::test {

// The distance from 1 to the next larger value.
inline double epsilon(DType type) {
  switch (type) {
    case DType::f64: return 0x1p-52;
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

}  // namespace trine::test
