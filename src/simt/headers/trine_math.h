// The device math library as kernels see it. Its own sums of products stay as written; after it the compiler's setting,
// contraction, holds again (clang has no way to say "as before" for this target).
#pragma once

#ifdef __clang__
#pragma clang fp contract(off)
#endif

#include "math_functions.h"

#ifdef __clang__
#pragma clang fp contract(fast)
#endif
