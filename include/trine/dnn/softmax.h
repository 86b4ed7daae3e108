#pragma once

#include "trine/base/dtype.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class SoftmaxKind : uint8_t {
  accurate,  // exp(x - max) / sum of exp(x - max)
  fast,      // exp(x) / sum of exp(x): x past 88 overflows
  log,       // x - max - ln(sum of exp(x - max))
};

// Along `axis` of x[outer, axis, inner]. Over all but the first dimension: axis = C*H*W, inner = 1; over channels:
// inner = 1 in nhwc, H*W in nchw.
//   forward   in x       out y
//   backward  in y, dy   out dx:  y * (dy - sum of y * dy),  of log  dy - exp(y) * sum of dy
// Where all of x is -infinity y is 0, of log -infinity. A NaN makes NaN of all that share its sum.
struct SoftmaxProblem {
  SoftmaxKind kind = SoftmaxKind::accurate;
  Pass pass = Pass::forward;
  int64_t outer = 1, axis = 0, inner = 1;
  DType type = DType::f32;  // f16 and bf16 too
  friend bool operator==(const SoftmaxProblem&, const SoftmaxProblem&) = default;
};

}  // namespace trine::dnn
