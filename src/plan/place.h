// Arena offsets for what the kernels and loops of a segment make.
#pragma once

#include "plan/prepare.h"

namespace trine {

// Fills offsets, direct_outputs, arena_bytes and workspace_bytes; calls, lodgings and strips are settled.
void place(Segment& segment, int threads);

}  // namespace trine
