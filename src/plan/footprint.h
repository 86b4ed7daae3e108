// What running a plan keeps in memory.
#pragma once

#include "plan/plan.h"

namespace trine {

struct Footprint {
  size_t weights = 0;      // as steps read them: packed where the kernel wants that, else as the graph has them
  size_t activations = 0;  // values between steps, and the largest scratch memory of a step
  size_t total() const { return weights + activations; }
};

// For inputs of these types. Where sizes are known only at run time, it stops: what comes later is not counted. Throws
// Error when the sizes do not fit together.
Footprint footprint(const Plan& plan, const std::vector<Type>& input_types, const Target* target = nullptr);

}  // namespace trine
