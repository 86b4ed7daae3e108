// What the passes that choose number formats share.
#pragma once

#include "passes/match.h"

namespace trine {

// v as `to`: f32, f16 or bf16. A constant becomes another constant; a cast from `to` is undone when it lost nothing.
ValueId as_type(Rewriter& r, ValueId v, DType to);

// Node n computes from `inputs` with `attrs`; what it made comes, by a cast, from the new outputs.
void compute_elsewhere(Rewriter& r, int n, std::vector<ValueId> inputs, Attrs attrs);

}  // namespace trine
