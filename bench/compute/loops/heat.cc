#include <algorithm>

#include "rows.h"

namespace trine::bench_compute {

constexpr float kFlow = 0.2f;

void heat(const Work& work) {
  float *from = work.array<float>(0), *to = work.array<float>(1);
  const int n = work.number(0), steps = work.number(1);
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for schedule(static)
    for (int y = 0; y < n; ++y) {
      const float* __restrict p = from + y * n;
      float* __restrict q = to + y * n;
      if (y == 0 || y == n - 1) {
        std::copy(p, p + n, q);
        continue;
      }
      q[0] = p[0], q[n - 1] = p[n - 1];
      for (int x = 1; x < n - 1; ++x) q[x] = p[x] + kFlow * (p[x - 1] + p[x + 1] + p[x - n] + p[x + n] - 4 * p[x]);
    }
    std::swap(from, to);
  }
}

}  // namespace trine::bench_compute
