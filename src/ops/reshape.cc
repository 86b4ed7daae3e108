// Reshape, Flatten, Squeeze, Unsqueeze: the same elements under other dimensions.
#include <algorithm>

#include "codegen/lower.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

using codegen::Index;

// Index into `in` of the element at `index` of `out`. Dimensions are grouped into the shortest runs of equal product,
// so that only dimensions that are really split or merged need division.
Index view_index(const Shape& in, const Shape& out, const Index& index) {
  Index result;
  int i = 0, o = 0;
  while (i < in.rank() || o < out.rank()) {
    if (i < in.rank() && in[i] == Dim(1)) {
      result.push_back(0);
      ++i;
      continue;
    }
    if (o < out.rank() && out[o] == Dim(1)) {
      ++o;
      continue;
    }
    const int first_i = i, first_o = o;
    Dim size_in = i < in.rank() ? in[i++] : Dim(1), size_out = o < out.rank() ? out[o++] : Dim(1);
    while (size_in != size_out && (i < in.rank() || o < out.rank())) {
      const bool grow_in = o == out.rank() || (i < in.rank() && size_in < size_out);
      if (grow_in) size_in = size_in * in[i++];
      else size_out = size_out * out[o++];
    }
    Dim flat = 0;
    for (int k = first_o; k < o; ++k) flat = flat * out[k] + index[static_cast<size_t>(k)];
    std::vector<Dim> part;
    for (int k = i - 1; k >= first_i; --k) {
      const bool unit = in[k] == Dim(1);
      part.push_back(unit ? Dim(0) : k == first_i ? flat : mod(flat, in[k]));
      if (k > first_i && !unit) flat = floor_div(flat, in[k]);
    }
    result.insert(result.end(), part.rbegin(), part.rend());
  }
  return result;
}

codegen::Scalar view_lower(codegen::LowerContext& c) {
  return c.load(0, view_index(c.shape(0), c.output_type().shape, c.index()));
}

// The size that -1 stands for: elements of `in` over the product of the other target dimensions.
Dim remaining_size(InferContext& c, const Shape& in, const std::vector<Dim>& target, int skip) {
  std::vector<Dim> left = in.dims();
  Dim divisor = 1;
  for (int i = 0; i < static_cast<int>(target.size()); ++i) {
    if (i == skip) continue;
    const auto same = std::find(left.begin(), left.end(), target[static_cast<size_t>(i)]);
    if (same != left.end()) left.erase(same);  // equal factors cancel: [N,12,64] to [N,-1] is 12 * 64 whatever N is
    else divisor = divisor * target[static_cast<size_t>(i)];
  }
  Dim rest = 1;
  for (const Dim& d : left) rest = rest * d;
  if (divisor == Dim(1)) return rest;
  if (divisor == Dim(0)) return c.fresh();
  if (rest.constant() && divisor.constant() && rest.value() % divisor.value() != 0)
    c.fail("cannot reshape " + c.input(0).text() + ": " + rest.text() + " is no multiple of " + divisor.text());
  return floor_div(rest, divisor);
}

Shape reshaped(InferContext& c, const Shape& in, std::vector<Dim> target) {
  const bool allow_zero = c.attrs().integer("allowzero") != 0;
  int unknown = -1;
  bool complete = in.has_rank(), zero = false;
  for (int i = 0; i < static_cast<int>(target.size()); ++i) {
    Dim& d = target[static_cast<size_t>(i)];
    if (d == Dim(0) && !allow_zero) {
      if (in.has_rank() && i >= in.rank())
        c.fail("shape entry " + std::to_string(i) + " is 0 (copy), but x is " + c.input(0).text());
      d = in.has_rank() ? in[i] : c.fresh();
    } else if (d == Dim(-1)) {
      if (unknown >= 0) c.fail("shape holds -1 twice; at most one size can be worked out");
      unknown = i;
    } else if (d.constant() && d.value() < 0) {
      c.fail("shape holds " + d.text() + "; sizes must be >= -1");
    }
    zero = zero || d == Dim(0);
  }
  if (unknown >= 0) {
    if (zero && allow_zero) c.fail("shape holds both -1 and 0; the size that -1 stands for is not unique");
    target[static_cast<size_t>(unknown)] = complete ? remaining_size(c, in, target, unknown) : c.fresh();
  } else if (complete && in.is_static() && Shape(target).is_static() && in.elements() != Shape(target).elements()) {
    c.fail("cannot reshape " + c.input(0).text() + " to [" + Shape(target).text() + "]: " + in.elements().text() +
           " elements are not " + Shape(target).elements().text());
  }
  return Shape(std::move(target));
}

void infer_reshape(InferContext& c) {
  const Shape& in = c.shape(0);
  c.need_rank(1, 1);
  if (const auto target = c.content(1)) {
    c.set(0, c.dtype(0), reshaped(c, in, *target));
    if (target->size() <= 1) keep_content(c);
    return;
  }
  const auto rank = known_length(c, 1);
  if (rank && *rank > kMaxRank) c.fail("shape of " + std::to_string(*rank) + " dimensions; at most 16");
  c.set(0, c.dtype(0), rank ? c.fresh_shape(static_cast<int>(*rank)) : Shape());
}

void reshape_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  Dims target = c.tensor(1).i64_values();
  const bool allow_zero = c.attrs().integer("allowzero") != 0;
  int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < static_cast<int>(target.size()); ++i) {
    int64_t& d = target[static_cast<size_t>(i)];
    if (d == 0 && !allow_zero) {
      if (i >= x.rank()) c.fail("shape entry " + std::to_string(i) + " is 0 (copy), but x is " + x.type_text());
      d = x.dim(i);
    }
    if (d == -1 && unknown < 0) {
      unknown = i;
    } else if (d < 0) {
      c.fail("shape [" + to_string(target) + "]; sizes must be >= 0, and one may be -1");
    } else {
      known = checked_mul(known, d);
    }
  }
  if (unknown >= 0) {
    const bool copied_zero = known == 0 && x.elements() == 0 && !allow_zero;
    if (known == 0 && !copied_zero) c.fail("shape holds both -1 and 0; the size that -1 stands for is not unique");
    target[static_cast<size_t>(unknown)] = known == 0 ? 0 : x.elements() / known;
    known = copied_zero ? 0 : known * target[static_cast<size_t>(unknown)];
  }
  if (known != x.elements())
    c.fail("cannot reshape " + x.type_text() + " to [" + to_string(target) + "]; the element counts must be equal");
  c.set(0, x.reshaped(std::move(target)));
}

const OpDef kReshape = {.name = "reshape",
                        .onnx = "Reshape",
                        .doc = "the elements of x under the given dimensions; 0 copies one, -1 is worked out",
                        .types = "a x",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_reshape,
                        .reference = reshape_reference,
                        .lower = view_lower,
                        .view = true};
const RegisterOp kRegisterReshape(kReshape);

// [-rank, rank], unlike other axes.
template <class C>
int flatten_axis(const C& c, int rank) {
  const int64_t axis = c.attrs().integer("axis", 1);
  return axis == rank ? rank : c.axis(axis, rank);
}

void infer_flatten(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), c.fresh_shape(2));
  const int axis = x.rank() == 0 ? 0 : flatten_axis(c, x.rank());
  c.set(0, c.dtype(0), {product(x, 0, axis), product(x, axis, x.rank())});
}

void flatten_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int axis = x.rank() == 0 ? 0 : flatten_axis(c, x.rank());
  int64_t rows = 1, columns = 1;
  for (int i = 0; i < x.rank(); ++i) (i < axis ? rows : columns) = checked_mul(i < axis ? rows : columns, x.dim(i));
  c.set(0, x.reshaped({rows, columns}));
}

const OpDef kFlatten = {.name = "flatten",
                        .onnx = "Flatten",
                        .doc = "dimensions before `axis` become one, the others another",
                        .types = "a",
                        .infer = infer_flatten,
                        .reference = flatten_reference,
                        .lower = view_lower,
                        .view = true};
const RegisterOp kRegisterFlatten(kFlatten);

Shape squeezed(InferContext& c, const Shape& x) {
  std::vector<bool> drop(static_cast<size_t>(x.rank()), false);
  if (const auto axes = c.integers(1)) {
    for (int axis : distinct_axes(c, *axes, x.rank())) {
      if (x[axis].constant() && x[axis].value() != 1)
        c.fail("axis " + std::to_string(axis) + " of " + c.input(0).text() + " is not 1; only axes of size 1 go");
      drop[static_cast<size_t>(axis)] = true;
    }
  } else {
    for (int i = 0; i < x.rank(); ++i) {
      if (!x[i].is_constant()) return Shape();  // whether it goes is known only at run time
      drop[static_cast<size_t>(i)] = x[i] == Dim(1);
    }
  }
  std::vector<Dim> kept;
  for (int i = 0; i < x.rank(); ++i)
    if (!drop[static_cast<size_t>(i)]) kept.push_back(x[i]);
  return kept;
}

void infer_squeeze(InferContext& c) {
  const Shape& x = c.shape(0);
  if (c.has(1) && !c.integers(1)) {
    const auto count = known_length(c, 1);
    const bool known = x.has_rank() && count && *count <= x.rank();
    return c.set(0, c.dtype(0), known ? c.fresh_shape(x.rank() - static_cast<int>(*count)) : Shape());
  }
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  c.set(0, c.dtype(0), squeezed(c, x));
  keep_content(c);
}

void squeeze_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  std::vector<int> drop;
  if (c.has(1)) drop = distinct_axes(c, c.tensor(1).i64_values(), x.rank());
  for (int axis : drop)
    if (x.dim(axis) != 1)
      c.fail("axis " + std::to_string(axis) + " of " + x.type_text() + " is not 1; only axes of size 1 go");
  Dims kept;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = c.has(1) ? std::find(drop.begin(), drop.end(), i) != drop.end() : x.dim(i) == 1;
    if (!goes) kept.push_back(x.dim(i));
  }
  c.set(0, x.reshaped(std::move(kept)));
}

const OpDef kSqueeze = {.name = "squeeze",
                        .onnx = "Squeeze",
                        .doc = "drops the given axes of size 1, or all of size 1",
                        .types = "a x",
                        .min_inputs = 1,
                        .max_inputs = 2,
                        .infer = infer_squeeze,
                        .reference = squeeze_reference,
                        .lower = view_lower,
                        .view = true};
const RegisterOp kRegisterSqueeze(kSqueeze);

// Merges `dims` with a 1 at each of `axes` (of the result).
template <class D>
std::vector<D> unsqueezed(const std::vector<D>& dims, const std::vector<int>& axes) {
  std::vector<D> result;
  auto next = dims.begin();
  for (int i = 0; i < static_cast<int>(dims.size() + axes.size()); ++i)
    result.push_back(std::find(axes.begin(), axes.end(), i) != axes.end() ? D(1) : *next++);
  return result;
}

template <class C>
std::vector<int> unsqueeze_axes(const C& c, const std::vector<int64_t>& axes, int rank) {
  const size_t total = axes.size() + static_cast<size_t>(rank);
  if (total > kMaxRank) c.fail("the result would have " + std::to_string(total) + " dimensions; at most 16");
  return distinct_axes(c, axes, static_cast<int>(total));
}

void infer_unsqueeze(InferContext& c) {
  const Shape& x = c.shape(0);
  const auto axes = c.integers(1);
  if (!x.has_rank() || !axes) {
    const auto count = known_length(c, 1);
    const bool known = x.has_rank() && count && *count + x.rank() <= kMaxRank;
    return c.set(0, c.dtype(0), known ? c.fresh_shape(x.rank() + static_cast<int>(*count)) : Shape());
  }
  c.set(0, c.dtype(0), Shape(unsqueezed(x.dims(), unsqueeze_axes(c, *axes, x.rank()))));
  if (x.rank() + axes->size() <= 1) keep_content(c);
}

void unsqueeze_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  c.set(0, x.reshaped(unsqueezed(x.dims(), unsqueeze_axes(c, c.tensor(1).i64_values(), x.rank()))));
}

const OpDef kUnsqueeze = {.name = "unsqueeze",
                          .onnx = "Unsqueeze",
                          .doc = "inserts an axis of size 1 at each of `axes`",
                          .types = "a x",
                          .min_inputs = 2,
                          .max_inputs = 2,
                          .infer = infer_unsqueeze,
                          .reference = unsqueeze_reference,
                          .lower = view_lower,
                          .view = true};
const RegisterOp kRegisterUnsqueeze(kUnsqueeze);

}  // namespace
}  // namespace trine
