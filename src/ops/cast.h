// Conversion of a whole tensor to another element type, by the rules of ONNX Cast.
#pragma once

#include "base/float_formats.h"
#include "trine/base/tensor.h"

namespace trine {

struct CastRules {
  Overflow overflow = Overflow::saturate;  // of values outside an f8 format
  Rounding rounding = Rounding::up;        // to f8e8m0
};

// Float to float rounds half to even, past the range to infinity (f8: `overflow`; f6, f4: the largest value). Float to
// integer truncates and saturates, NaN becoming 0; out of range of a sub-byte integer gives 0. Integers wrap.
// To boolean is != 0. Strings are parsed and printed (shortest text that reads back the same); one that is no number
// throws Error{invalid_argument}. Complex numbers convert to each other only.
Tensor cast(const Tensor& x, DType to, const CastRules& rules = {});

}  // namespace trine
