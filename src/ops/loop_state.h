// What Loop and Scan share: types that stay true from trip to trip, and outputs gathered over the trips.
#pragma once

#include <functional>

#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {

// Runs `body` (types of the carried values in, types of all body outputs out) until the carried types that it is given
// hold also after a trip: what a trip changes is widened to a fresh size, then to an unknown rank. Carried value i is
// body output `first + i`. Returns the body's output types of the last run; `carried` becomes the stable types.
std::vector<Type> stable_body_types(InferContext& c, std::vector<Type>& carried, size_t first,
                                    const std::function<std::vector<Type>(const std::vector<Type>&)>& body);

// The tensors of all trips joined along a new axis.
Tensor stack_trips(const EvalContext& c, const std::vector<Tensor>& trips, int axis);

// A stack of no trips, shaped by the body's output type: sizes that its inputs give are taken from `inputs` (the body's
// inputs, as far as known), others are 0.
Tensor empty_stack(const EvalContext& c, const Graph& body, size_t output, const std::vector<Datum>& inputs,
                   int64_t axis);

}  // namespace trine
