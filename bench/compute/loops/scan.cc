// Each thread adds its stretch, then scans it from the sum of those before.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "rows.h"

namespace trine::bench_compute {

void scan(const Work& work) {
  const int* in = work.array<int>(0);
  int* out = work.array<int>(1);
  const long n = work.number(0);
  std::vector<int> sums(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const long each = (n + threads - 1) / threads, first = thread * each, end = std::min(n, first + each);
    int sum = 0;
    for (long i = first; i < end; ++i) sum += in[i];
    sums[static_cast<size_t>(thread)] = sum;
#pragma omp barrier
    sum = 0;
    for (int t = 0; t < thread; ++t) sum += sums[static_cast<size_t>(t)];
    for (long i = first; i < end; ++i) out[i] = sum += in[i];
  }
}

}  // namespace trine::bench_compute
