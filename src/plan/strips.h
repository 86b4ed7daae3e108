// Strips: runs of calls that go through a batch part by part instead of call by call, so that what one call writes is
// still in a cache when the next one reads it. With enough parts each is one thread's, from the first call to the last:
// no thread waits within a strip.
#pragma once

#include "plan/prepare.h"

namespace trine {

// Finds the strips of a segment whose calls and lodgings are settled, and the extents of what they touch.
void find_strips(Segment& segment, int threads);

}  // namespace trine
