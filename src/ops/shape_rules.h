// Pieces that shape rules and references of data-movement operators share. A context `C` is an InferContext or an
// EvalContext: both check axes and fail in the name of their node.
#pragma once

#include <string>

#include "base/checked.h"
#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {

// Symbolic contents of longer tensors are not followed: they are data, not shape arithmetic.
constexpr int64_t kMaxContent = 128;

// Product of dimensions [from, to).
Dim product(const Shape& shape, int from, int to);

// The elements of a one-element integer tensor input.
int64_t scalar_integer(const EvalContext& c, int input, std::string_view what);
// As above while inferring; nothing when not known.
std::optional<int64_t> known_scalar(const InferContext& c, int input);

// Passes the content of input 0 on to an output of rank 0 or 1 that holds the same elements.
void keep_content(InferContext& c);
// Fails where x (input 0) cannot be expanded to `target`, as far as the sizes are known.
void check_expands(InferContext& c, const Shape& target);
// The number of elements of rank-1 input i, when known.
std::optional<int64_t> known_length(const InferContext& c, int i);

// Wraps negative axes, checks them and that none comes twice.
template <class C>
std::vector<int> distinct_axes(const C& c, const std::vector<int64_t>& axes, int rank) {
  std::vector<int> result;
  for (int64_t a : axes) {
    const int axis = c.axis(a, rank, "axes");
    for (int seen : result)
      if (seen == axis) c.fail("axes name axis " + std::to_string(axis) + " twice; each may come once");
    result.push_back(axis);
  }
  return result;
}

// As distinct_axes, for an optional list: 0 .. rank-1 when it is absent.
template <class C>
std::vector<int> axes_or_all(const C& c, const std::optional<std::vector<int64_t>>& axes, int rank) {
  if (axes) return distinct_axes(c, *axes, rank);
  std::vector<int> all;
  for (int i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

// An integer attribute list, or nothing when the attribute is absent.
inline std::optional<std::vector<int64_t>> optional_integers(const Attrs& attrs, std::string_view name) {
  if (!attrs.has(name)) return std::nullopt;
  return attrs.integers(name);
}

// A dimension that both `a` and `b` must be equal to: the constant one, or `a`. Unequal constants fail.
template <class C>
Dim same_dim(const C& c, const Dim& a, const Dim& b, std::string_view what) {
  if (a.is_constant() && b.is_constant() && a != b)
    c.fail(std::string(what) + " differ: " + a.text() + " and " + b.text() + "; they must be equal");
  return a.is_constant() ? a : (b.is_constant() ? b : a);
}

}  // namespace trine
