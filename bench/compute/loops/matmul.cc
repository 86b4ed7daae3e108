// By tiles of rows and of the depth, so that a stretch of B stays in cache; the inner loop goes along rows.
#include <algorithm>

#include "rows.h"

namespace trine::bench_compute {

constexpr long kRows = 32, kDepth = 64, kColumns = 512;

void matmul(const Work& work) {
  const float *a = work.array<float>(0), *b = work.array<float>(1);
  float* c = work.array<float>(2);
  const long n = work.number(0);
#pragma omp parallel for schedule(dynamic)
  for (long i0 = 0; i0 < n; i0 += kRows) {
    const long i1 = std::min(n, i0 + kRows);
    std::fill(c + i0 * n, c + i1 * n, 0.0f);
    for (long j0 = 0; j0 < n; j0 += kColumns)
      for (long k0 = 0; k0 < n; k0 += kDepth) {
        const long j1 = std::min(n, j0 + kColumns), k1 = std::min(n, k0 + kDepth);
        for (long i = i0; i < i1; ++i)
          for (long k = k0; k < k1; ++k) {
            const float x = a[i * n + k];
            for (long j = j0; j < j1; ++j) c[i * n + j] += x * b[k * n + j];
          }
      }
  }
}

}  // namespace trine::bench_compute
