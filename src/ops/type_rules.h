// Types where control flow joins: what a value may be when it comes from one of several places.
#pragma once

#include "graph/infer.h"

namespace trine {

// The narrowest type that holds values of both: sizes that differ become fresh, ranks that differ unknown. Kinds or
// element types that differ fail, naming `what`.
Type join_types(InferContext& c, const Type& a, const Type& b, std::string_view what);

// The type of a sequence's or optional's element; a tensor of unknown type when it is not known.
Type element_type(const Type& t);

// Prefixes a tensor type with an axis at `axis`, or takes it away.
Shape with_axis(const Shape& s, int axis, const Dim& size);
Shape without_axis(const Shape& s, int axis);

}  // namespace trine
