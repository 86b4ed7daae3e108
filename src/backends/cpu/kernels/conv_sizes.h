// Small arithmetic on the sizes of convolutions.
#pragma once

#include "trine/dnn/problem.h"

namespace trine::cpu {

inline int64_t volume(const dnn::Extents& e) { return e[0] * e[1] * e[2]; }
inline int64_t pixel_stride(int64_t given, int64_t dense) { return given ? given : dense; }

}  // namespace trine::cpu
