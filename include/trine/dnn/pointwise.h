// Problems of one element at a time, computed in f32. Tensors are dense.
#pragma once

#include "trine/base/dtype.h"
#include "trine/base/shape.h"
#include "trine/dnn/epilogue.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class Unary : uint8_t {
  none,
  relu,
  clip,
  leaky_relu,
  sigmoid,
  tanh,
  silu,
  hardsigmoid,
  hardswish,
  gelu,
  gelu_tanh,     // up to here as in Activation
  elu,           // x > 0 ? x : alpha * (exp(x) - 1)
  softplus,      // ln(1 + exp(beta * x)) / beta
  clipped_relu,  // min(max(x, 0), alpha)
  swish,         // x * sigmoid(beta * x)
  square_root,
  logical_not,  // 1 - x: of 0 and 1 the other
  negate,
  absolute,  // derivative at 0: 0
  ceil,      // derivatives of these two: 0
  floor,
  exponential,
  logarithm,
  reciprocal,
  reciprocal_root,  // 1 / sqrt(x)
  sine,
  cosine,
  tangent,
  error_function,
};
std::string_view name(Unary function);

// One value, and its derivative, in f64: what every kernel must agree with. At a corner the derivative is the lesser
// side's: relu'(0) = 0, leaky_relu'(0) = alpha, clip'(bound) = 0. A NaN gives NaN, but gradients of piecewise linear
// functions let dy through where x is NaN.
double apply(Unary function, double x, float alpha, float beta);
double derivative(Unary function, double x, float alpha, float beta);

// forward   in x           out y:   y = function(x)
// backward  in x, y, dy    out dx:  dx = dy * function'(x);  0 whatever dy is where a comparison makes the derivative 0
struct ActivationProblem {
  Unary function = Unary::relu;
  Pass pass = Pass::forward;
  int64_t elements = 0;
  float alpha = 0, beta = 1;
  DType type = DType::f32;  // f16, bf16, i8 and u8 too
  friend bool operator==(const ActivationProblem&, const ActivationProblem&) = default;
};

enum class Binary : uint8_t {
  add,
  sub,
  mul,
  div,
  min,
  max,
  power,       // a^b
  remainder,   // a - b * trunc(a / b)
  arctangent,  // of a / b, in the quadrant of (b, a)
  add_square,  // a + b * b
  equal,       // comparisons and logic give 1 or 0; what is not 0 is true, a NaN equals nothing
  not_equal,
  greater,
  greater_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  select,  // a where c is not 0, else b; c is not added then
};
std::string_view name(Binary op);

// One value in f64: what every kernel must agree with. `c` is select's.
double apply(Binary op, double a, double b, double c = 0);

// y = op(alpha1 * a, alpha2 * b) + beta * c;   in a, b, c (may be y; read only by select, or when beta is not 0)   out
// y a, c and y have `dims`; b broadcasts as in NumPy: missing leading dimensions and those of 1 repeat. The minimum and
// the maximum of a NaN and anything are NaN.
struct BinaryProblem {
  Binary op = Binary::add;
  Dims dims, b_dims;
  float alpha1 = 1, alpha2 = 1, beta = 0;
  DType type = DType::f32;    // of a, c and y: f16, bf16, i8 and u8 too
  DType b_type = DType::f32;  // the same, of b
  bool reads_c() const { return beta != 0 || op == Binary::select; }
  friend bool operator==(const BinaryProblem&, const BinaryProblem&) = default;
};

// y[i] = kept(i) ? x[i] / (1 - rate) : 0;   in x   out y.  The gradient is the same problem with dy for x: the seed and
// the offset are all the state there is.
// kept(i): word i % 4 of Philox4x32-10(key = seed, counter = offset + i / 4) is at least rate * 2^32 (rounded). What is
// dropped is 0 even where x is NaN.
struct DropoutProblem {
  int64_t elements = 0;
  double rate = 0.5;  // in [0, 1]
  uint64_t seed = 0, offset = 0;
  DType type = DType::f32;  // f16 and bf16 too
  friend bool operator==(const DropoutProblem&, const DropoutProblem&) = default;

  // What to add to `offset` for the next call.
  uint64_t counters() const { return (static_cast<uint64_t>(elements) + 3) / 4; }
};

}  // namespace trine::dnn
