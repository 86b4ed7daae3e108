// Comparison of outputs as onnx.backend.test.runner does it: |got - want| <= atol + rtol |want|, NaN equals NaN; types,
// shapes, strings and integers are equal.
#pragma once

#include <string>

#include "trine/base/tensor.h"

namespace trine::conformance {

struct Tolerance {
  double relative, absolute;
};

// Empty when they agree; else where and how they part.
std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance);

}  // namespace trine::conformance
