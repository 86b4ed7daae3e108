// Host steps: operators' references on data in host memory, control flow included.
#pragma once

#include "plan/prepare.h"

namespace trine {

// What the step's node makes of `inputs`, by output; nothing in it refers to memory of others. `run_body(k, inputs)`
// runs its body k. Throws Error.
std::vector<Datum> run_host_step(const Plan& plan, const Segment& segment, const Call& call, std::vector<Datum> inputs,
                                 const std::function<std::vector<Datum>(int k, std::vector<Datum> inputs)>& run_body);

// A copy of tensors whose bytes somebody else lends.
Datum detached(Datum datum);

// A dense copy of a value whose rows lie apart from `from` on.
Tensor gathered(const Lodging& lodging, const Type& type, const void* from);
// [N,spatial...,C] from the bytes of [N,C,spatial...].
Tensor interleaved(const Type& type, const void* from);

}  // namespace trine
