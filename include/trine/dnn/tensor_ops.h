// Reductions and conversions of whole tensors.
#pragma once

#include "trine/base/dtype.h"
#include "trine/base/shape.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class ReduceKind : uint8_t {
  add,
  mul,
  min,
  max,
  amax,          // max of |a|
  avg,           // add / count
  norm1,         // add of |a|
  norm2,         // sqrt of the add of a * a
  mul_no_zeros,  // mul of those that are not 0
};

// y = alpha * reduction of a + beta * c;   in a, c (read only when beta is not 0; may be y)   out y, indices (i32)
// `out_dims` has the rank of `dims`; where it is 1 and dims is not, the dimension is reduced. With `indices` (may be
// null), of min, max and amax: where the result stood, counted row-major within the reduced dimensions; the first of
// equal ones. A NaN is the result of min, max and amax, and the first one is where it stood. Of no elements: the
// neutral value (of min infinity, of max -infinity), of avg NaN, index 0. Sums are made in f32, those along rows in f64
// over blocks.
struct ReduceProblem {
  ReduceKind kind = ReduceKind::add;
  Dims dims, out_dims;
  bool indices = false;
  float alpha = 1, beta = 0;
  DType type = DType::f32;  // of a, c and y: f16, bf16, i8 and u8 too
  friend bool operator==(const ReduceProblem&, const ReduceProblem&) = default;
};

// y[i . out_strides] = alpha * x[i . in_strides] + beta * y[i . out_strides] for i in dims; strides in elements,
// computed in f32 and converted: f32, f16, bf16, i8, u8, i32. Rounding is to nearest, ties to even; integers saturate
// and take 0 for a NaN, f16 and bf16 overflow to infinity. y is read only when beta is not 0.   in x   out y
struct TransformProblem {
  Dims dims, in_strides, out_strides;
  DType in = DType::f32, out = DType::f32;
  float alpha = 1, beta = 0;
  friend bool operator==(const TransformProblem&, const TransformProblem&) = default;
};

}  // namespace trine::dnn
