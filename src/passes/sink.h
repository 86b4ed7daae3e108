// Moving one transpose past one node: f(transpose(x, p)) = transpose(f'(x), p'). Shared by the files of
// sink_transposes.
#pragma once

#include "passes/permute.h"

namespace trine {

// Moves the transposes that make inputs of n to its outputs, if that pays; n's outputs keep their meaning. Each returns
// whether it did.
bool sink_through_elementwise(Rewriter& r, int n);
bool sink_through_concat(Rewriter& r, int n);
bool sink_through_split(Rewriter& r, int n);
bool sink_through_axes(Rewriter& r, int n);  // slice, pad, resize: constant lists of axes
bool sink_through_axis(Rewriter& r, int n);  // softmax and others with one axis
bool sink_through_reduction(Rewriter& r, int n);
bool sink_through_reshape(Rewriter& r, int n);

}  // namespace trine
