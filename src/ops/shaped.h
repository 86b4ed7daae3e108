// Sizes written in terms of the inputs' own dimensions, so that no tensor has to carry them at run time. In the
// attribute `dims` of reshape_to and expand_to, `a2` is dimension 2 of input 0 and `b0` dimension 0 of input 1:
//
//   %y: f32[N,12,64] = reshape_to %x {dims=["a0","12","64"]}      # %x: f32[N,768]
#pragma once

#include <optional>

#include "trine/base/shape.h"

namespace trine {

// The symbol for dimension `dim` of input `input`: a0, b3, ...
Dim local_dim(int input, int dim);

// `target`, written with local symbols of tensors of these shapes; nothing when a symbol is no dimension of any of
// them.
std::optional<std::vector<std::string>> local_dims(const Shape& target, const std::vector<Shape>& inputs);

// The inverse: local symbols replaced by the dimensions of `inputs`. Throws Error{invalid_model} for a symbol that
// names no dimension.
Shape resolve_dims(const std::vector<std::string>& dims, const std::vector<Shape>& inputs);

}  // namespace trine
