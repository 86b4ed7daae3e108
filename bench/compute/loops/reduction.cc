#include "rows.h"

namespace trine::bench_compute {

void reduction(const Work& work) {
  const float* x = work.array<float>(0);
  const long n = work.number(0);
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i];
  *work.array<double>(1) = sum;
}

}  // namespace trine::bench_compute
