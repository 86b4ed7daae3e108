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

// Reshape n of a transpose that stays: split and slice that read it take their parts before the transpose instead.
bool take_parts_first(Rewriter& r, int n);

// Axes [from, to) of y and [out_from, out_to) of z, a reshape of y, that hold the same elements.
struct AxisGroup {
  int from = 0, to = 0, out_from = 0, out_to = 0;
};
// Splits y's and z's axes into groups of equal products, as small as sizes let one see; nothing when they do not.
std::optional<std::vector<AxisGroup>> axis_groups(const Shape& y, const Shape& z);

}  // namespace trine
