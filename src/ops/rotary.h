// Rotary position embedding of one head vector: pairs (a, b) of its first 2*half elements turn by the angle of the
// cache row: (a, b) -> (a cos - b sin, a sin + b cos). Pairs are (i, i + half), or (2i, 2i+1) when interleaved.
#pragma once

#include <cstdint>

namespace trine {

inline void rotate(double* x, const double* cos, const double* sin, int64_t half, bool interleaved) {
  for (int64_t i = 0; i < half; ++i) {
    double& a = x[interleaved ? 2 * i : i];
    double& b = x[interleaved ? 2 * i + 1 : i + half];
    const double turned = a * cos[i] - b * sin[i];
    b = a * sin[i] + b * cos[i];
    a = turned;
  }
}

}  // namespace trine
