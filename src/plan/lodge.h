// Values that live inside others, so that concat, split and slice move no bytes: what joins a tensor is written
// straight into it, and a part of a tensor is read where it lies.
#pragma once

#include "plan/prepare.h"

namespace trine {

// Convolutions that read an image as it comes, [N,C,spatial...], need no copy of it with channels innermost.
//
// Finds the copies of the segment that no one needs when one of their sides (the guest) lives inside the other (the
// host), tells the kernels that touch the guest how far apart its rows are, and drops the copies. A guest whose rows
// are apart is touched by kernels alone, each of which still fits then.
void lodge(Segment& segment, int threads);

}  // namespace trine
