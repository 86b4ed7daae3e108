// Shape: the dimensions [start, end) of x as an i64 vector. Size: the number of elements.
#include <algorithm>

#include "ops/shape_rules.h"

namespace trine {
namespace {

struct Span {
  int from, to;
};

Span shape_span(const Attrs& attrs, int rank) {
  const auto clamp = [&](int64_t at) {
    return static_cast<int>(std::clamp<int64_t>(at < 0 ? std::max<int64_t>(at, -rank) + rank : at, 0, rank));
  };
  const int from = clamp(attrs.integer("start"));
  return {from, std::max(from, clamp(attrs.integer("end", rank)))};
}

void infer_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, DType::i64, {c.fresh("rank")});
  const Span span = shape_span(c.attrs(), x.rank());
  c.set(0, DType::i64, {Dim(span.to - span.from)});
  c.set_content(0, std::vector<Dim>(x.dims().begin() + span.from, x.dims().begin() + span.to));
}

void shape_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Span span = shape_span(c.attrs(), x.rank());
  c.set(0, Tensor::vector_i64({x.dims().begin() + span.from, x.dims().begin() + span.to}));
}

const OpDef kShape = {.name = "shape",
                      .onnx = "Shape",
                      .doc = "y = dimensions [start, end) of x",
                      .types = "a",
                      .infer = infer_shape,
                      .reference = shape_reference};
const RegisterOp kRegisterShape(kShape);

void infer_size(InferContext& c) {
  c.set(0, DType::i64, Shape(std::vector<Dim>{}));
  if (c.shape(0).has_rank()) c.set_content(0, {c.shape(0).elements()});
}

void size_reference(EvalContext& c) { c.set(0, Tensor::scalar_i64(c.tensor(0).elements())); }

const OpDef kSize = {.name = "size",
                     .onnx = "Size",
                     .doc = "y = number of elements of x",
                     .types = "a",
                     .infer = infer_size,
                     .reference = size_reference};
const RegisterOp kRegisterSize(kSize);

}  // namespace
}  // namespace trine
