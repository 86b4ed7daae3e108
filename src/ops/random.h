// The random stream of a node: fixed by its seed, or fresh for every run without one.
#pragma once

#include "base/philox.h"
#include "graph/attrs.h"

namespace trine {

Philox random_stream(const Attrs& attrs);

}  // namespace trine
