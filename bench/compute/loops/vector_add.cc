#include "rows.h"

namespace trine::bench_compute {

void vector_add(const Work& work) {
  const float *a = work.array<float>(0), *b = work.array<float>(1);
  float* c = work.array<float>(2);
  const long n = work.number(0);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

}  // namespace trine::bench_compute
