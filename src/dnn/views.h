// Operands that lie in memory in another way than their problem says: absorbed into the problem's own strides, or
// copied.
#pragma once

#include "trine/dnn/primitive.h"

namespace trine::dnn {

// Throws Error{invalid_argument} for a view that is not of all elements of its operand, or of an output some of whose
// elements share memory.
void check_views(const Problem& problem, const Views& views);

// Puts into the problem what its pixel strides and layouts can say, and takes it out of `views`.
Problem absorb(const Problem& problem, Views& views);

// The same convolution of an nhwc input, of which `view` says how the nchw one lies.
ConvProblem in_nhwc(const ConvProblem& problem, View& view);

// An operand's way between its view and dense memory.
CopyProblem copy_in(const View& view, DType type);
CopyProblem copy_out(const View& view, DType type);

// Whether results are added to what the outputs hold.
bool reads_outputs(const Problem& problem);

}  // namespace trine::dnn
