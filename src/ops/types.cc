#include "ops/types.h"

namespace trine {

unsigned type_set(DType type) {
  switch (type) {
    case DType::none: return 0;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: return kFloats;
    case DType::boolean: return kBooleans;
    case DType::string: return kStrings;
    case DType::i4:
    case DType::u4:
    case DType::i2:
    case DType::u2: return kTinyIntegers;
    default: break;
  }
  if (is_complex(type)) return kComplex;
  return is_integer(type) ? kIntegers : kTinyFloats;
}

bool is_unsigned(DType type) { return is_integer(type) && !is_signed_integer(type); }

int bit_width(DType type) {
  switch (type) {
    case DType::i4:
    case DType::u4:
    case DType::f4e2m1: return 4;
    case DType::i2:
    case DType::u2: return 2;
    case DType::f6e2m3:
    case DType::f6e3m2: return 6;
    default: return static_cast<int>(8 * byte_size(type));
  }
}

}  // namespace trine
