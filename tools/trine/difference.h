// How far two values are apart.
#pragma once

#include <string>

#include "trine/base/tensor.h"

namespace trine::cli {

struct Difference {
  double max_abs = 0;          // max |a - b|
  double max_rel = 0;          // max |a - b| / max |b|: what the tolerances of outputs are about
  int64_t unlike = 0;          // elements where only one is NaN, or infinities differ
  int64_t worst = 0;           // index of the largest |a - b|
  double got = 0, wanted = 0;  // there
  std::string kind;            // not empty: the types or sizes differ, nothing was compared

  bool within(double tolerance) const { return kind.empty() && unlike == 0 && max_rel <= tolerance; }
  std::string text() const;
};

// Integers, booleans and strings must be equal: any difference makes max_rel infinite.
Difference difference(const Datum& got, const Datum& wanted);

// The default bound between two fp32 runs of one network.
constexpr double kModelTolerance = 1e-4;

}  // namespace trine::cli
