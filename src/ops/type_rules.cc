#include "ops/type_rules.h"

namespace trine {

namespace {

bool unknown(const Type& t) { return t.is_tensor() && t.dtype == DType::none && !t.shape.has_rank(); }

Shape join_shapes(InferContext& c, const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape();
  Shape joined = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) joined[i] = c.fresh("join");
  return joined;
}

}  // namespace

Type element_type(const Type& t) { return t.element ? *t.element : Type::tensor(DType::none, Shape()); }

Type join_types(InferContext& c, const Type& a, const Type& b, std::string_view what) {
  if (a == b || unknown(b)) return a;
  if (unknown(a)) return b;
  // An optional may be filled by a plain value of its element type.
  if (a.kind == Type::Kind::optional && b.kind != a.kind)
    return Type::optional(join_types(c, element_type(a), b, what));
  if (b.kind == Type::Kind::optional && b.kind != a.kind)
    return Type::optional(join_types(c, a, element_type(b), what));
  if (a.kind == Type::Kind::none) return b;
  if (b.kind == Type::Kind::none) return a;
  const bool dtypes = a.dtype == b.dtype || a.dtype == DType::none || b.dtype == DType::none;
  if (a.kind != b.kind || !dtypes)
    c.fail(std::string(what) + " is " + a.text() + " in one place, " + b.text() + " in another; types must agree");
  if (a.is_tensor()) return Type::tensor(a.dtype == DType::none ? b.dtype : a.dtype, join_shapes(c, a.shape, b.shape));
  const Type element = join_types(c, element_type(a), element_type(b), what);
  return a.kind == Type::Kind::sequence ? Type::sequence(element) : Type::optional(element);
}

Shape with_axis(const Shape& s, int axis, const Dim& size) {
  if (!s.has_rank()) return s;
  std::vector<Dim> dims = s.dims();
  dims.insert(dims.begin() + axis, size);
  return dims;
}

Shape without_axis(const Shape& s, int axis) {
  if (!s.has_rank()) return s;
  std::vector<Dim> dims = s.dims();
  dims.erase(dims.begin() + axis);
  return dims;
}

}  // namespace trine
