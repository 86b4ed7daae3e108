// Lowering: an operator says what one element of its output is, in terms of elements of its inputs. Fusing two
// operators is then function composition: where a fused producer is read, its own rule is asked for that element.
//
//   Scalar softmax_lower(LowerContext& c) {
//     Dim n = c.shape(0)[axis];
//     Scalar m = c.reduce(Reduce::max, {n}, [&](auto& r) { return c.load(0, c.index_with(axis, r[0])); });
//     Scalar s = c.reduce(Reduce::sum, {n}, [&](auto& r) { return c.exp(c.sub(c.load(0, c.index_with(axis, r[0])), m));
//     }); return c.div(c.exp(c.sub(c.load(0, c.index()), m)), s);
//   }
//
// Index expressions are Dims over loop symbols; loads should stay affine in them (constant strides): then they
// vectorise.
#pragma once

#include <functional>

#include "codegen/scalar.h"
#include "graph/graph.h"

namespace trine::codegen {

using Index = std::vector<Dim>;

class LowerContext {
 public:
  virtual ~LowerContext() = default;

  virtual const Node& node() const = 0;
  const Attrs& attrs() const { return node().attrs; }
  int output() const { return output_; }  // which output is wanted
  bool has(int input) const;
  virtual const Type& input_type(int i) const = 0;
  virtual const Type& output_type() const = 0;
  const Shape& shape(int input) const { return input_type(input).shape; }
  // Constant input's values (axes, pads...), when known while lowering.
  virtual Tensor constant(int input) const = 0;

  const Index& index() const { return index_; }    // of the wanted output element
  Index index_with(int dim, const Dim& at) const;  // index() with one coordinate replaced
  // index() mapped onto input i's shape by NumPy broadcasting (dimensions of size 1 read element 0).
  Index broadcast_index(int input) const;

  // Element of input i. Small floats (f16, bf16, f8) arrive as f32, small integers as i32/i64, bool as boolean.
  virtual Scalar load(int input, const Index& index) = 0;
  Scalar load(int input) { return load(input, broadcast_index(input)); }
  // As load, but `fallback` where `inside` (a boolean scalar) is false; nothing is read there.
  virtual Scalar load_if(Scalar inside, int input, const Index& index, Scalar fallback) = 0;
  // Element of input i at coordinates of which coordinate `dim` is the run-time scalar `at` (i64), already in range.
  virtual Scalar load_at(int input, const Index& index, int dim, Scalar at) = 0;

  virtual Scalar constant(DType type, double value) = 0;
  virtual Scalar index_value(const Dim& index) = 0;  // an i64 scalar: the value of an index expression
  virtual Scalar apply(ScalarOp op, Scalar a) = 0;
  virtual Scalar apply(ScalarOp op, Scalar a, Scalar b) = 0;  // operand types must agree
  virtual Scalar select(Scalar condition, Scalar a, Scalar b) = 0;
  // ONNX Cast rules. To a storage type (i8, f16, ...) it wraps or rounds to that type; the scalar stays in its compute
  // type (f32 for f16). Results in small integers are wrapped this way before they are used again.
  virtual Scalar cast(Scalar a, DType to) = 0;
  virtual DType type(Scalar a) const = 0;
  // Folds `body` over a box of the given extents; sums in f32 (f64 for f64, i64 for integers).
  virtual Scalar reduce(Reduce kind, const std::vector<Dim>& extents,
                        const std::function<Scalar(const Index& r)>& body) = 0;

  Scalar add(Scalar a, Scalar b) { return apply(ScalarOp::add, a, b); }
  Scalar sub(Scalar a, Scalar b) { return apply(ScalarOp::sub, a, b); }
  Scalar mul(Scalar a, Scalar b) { return apply(ScalarOp::mul, a, b); }
  Scalar div(Scalar a, Scalar b) { return apply(ScalarOp::div, a, b); }
  Scalar min(Scalar a, Scalar b) { return apply(ScalarOp::min, a, b); }
  Scalar max(Scalar a, Scalar b) { return apply(ScalarOp::max, a, b); }
  Scalar exp(Scalar a) { return apply(ScalarOp::exp, a); }
  // A constant of a's type.
  Scalar like(Scalar a, double value) { return constant(type(a), value); }

 protected:
  int output_ = 0;
  Index index_;
};

}  // namespace trine::codegen
