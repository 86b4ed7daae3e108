// Unary and binary operators as rows: one scalar function on reals, one on integers, one in loop IR.
//
// References compute in f64 and round once; integers are computed in 64 bits and wrap to their type (u64 travels as its
// bit pattern). Loop IR computes small floats in f32 and small integers in i32.
#pragma once

#include "ops/broadcast.h"
#include "ops/content.h"
#include "ops/rows.h"
#include "ops/types.h"

namespace trine {

// A numeric attribute and its default, as a float holds it.
struct Parameter {
  std::string_view name;
  float otherwise = 0;
};
// The values of a row's (at most two) parameters.
struct Coefficients {
  double a = 0, b = 0;
};
Coefficients coefficients(const Attrs& attrs, const Parameter& a, const Parameter& b = {});

using RealUnary = double (*)(double x, Coefficients k);
using RealBinary = double (*)(double a, double b);
using IntegerUnary = int64_t (*)(int64_t x, DType type, Coefficients k);
using IntegerBinary = int64_t (*)(int64_t a, int64_t b, DType type);

struct UnaryRow {
  std::string_view name, onnx, doc;
  const char* types = "f";
  RealUnary real = nullptr;
  IntegerUnary integer = nullptr;
  codegen::Scalar (*emit)(codegen::LowerContext& c, codegen::Scalar x, Coefficients k) = nullptr;
  Parameter a{}, b{};
  DType result = DType::none;  // none: the input's type
  DimUnary dim = nullptr;      // on symbolic content

  OpDef describe() const;
  void infer(InferContext& c) const;
  void reference(EvalContext& c) const;
  codegen::Scalar lower(codegen::LowerContext& c) const;
};

struct BinaryRow {
  std::string_view name, onnx, doc;
  const char* types = "Tfi T";
  RealBinary real = nullptr;
  IntegerBinary integer = nullptr;
  codegen::Scalar (*emit)(codegen::LowerContext& c, codegen::Scalar a, codegen::Scalar b) = nullptr;
  DType result = DType::none;
  DimBinary dim = nullptr;
  bool commutative = false;

  OpDef describe() const;
  void infer(InferContext& c) const;
  void reference(EvalContext& c) const;
  codegen::Scalar lower(codegen::LowerContext& c) const;
};

// Applies a scalar function to one tensor, or to two that broadcast; integers and booleans go through `integer`.
Tensor map_unary(const Tensor& x, DType result, RealUnary real, IntegerUnary integer, Coefficients k);
Tensor map_binary(const Tensor& a, const Tensor& b, DType result, RealBinary real, IntegerBinary integer);

// A result in a small integer type wraps to it before it is used again.
codegen::Scalar wrapped(codegen::LowerContext& c, codegen::Scalar value);
// True where loop IR can hold elements of this type: not strings, complex numbers or the sub-byte formats.
bool has_loop_form(DType type);

// Cells of the tables.
template <double (*f)(double)>
double real_of(double x, Coefficients) {
  return f(x);
}
template <codegen::ScalarOp op>
codegen::Scalar emit_unary(codegen::LowerContext& c, codegen::Scalar x, Coefficients) {
  return c.apply(op, x);
}
template <codegen::ScalarOp op>
codegen::Scalar emit_binary(codegen::LowerContext& c, codegen::Scalar a, codegen::Scalar b) {
  return c.apply(op, a, b);
}
template <codegen::ScalarOp op>
codegen::Scalar emit_swapped(codegen::LowerContext& c, codegen::Scalar a, codegen::Scalar b) {
  return c.apply(op, b, a);
}

}  // namespace trine
