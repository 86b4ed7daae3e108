// A histogram for each thread, added at the end.
#include <cstdint>

#include "rows.h"

namespace trine::bench_compute {

void histogram(const Work& work) {
  const uint32_t* words = work.array<uint32_t>(0);
  uint32_t* bins = work.array<uint32_t>(1);
  const long n = work.number(0);
  for (int i = 0; i < 256; ++i) bins[i] = 0;
#pragma omp parallel
  {
    uint32_t mine[256] = {};
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i)
      for (int b = 0; b < 4; ++b) ++mine[words[i] >> (8 * b) & 255];
#pragma omp critical
    for (int i = 0; i < 256; ++i) bins[i] += mine[i];
  }
}

}  // namespace trine::bench_compute
