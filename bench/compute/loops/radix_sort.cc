// Each thread counts the digits of its stretch, then moves its keys in order.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rows.h"

namespace trine::bench_compute {

constexpr size_t kDigits = 16;
using Counts = std::array<long, kDigits>;

// Counts become places: by digit, then by thread.
static void find_places(std::vector<Counts>& counts) {
  long place = 0;
  for (size_t d = 0; d < kDigits; ++d)
    for (Counts& of_thread : counts) {
      const long own = of_thread[d];
      of_thread[d] = place, place += own;
    }
}

void radix_sort(const Work& work) {
  const uint32_t* in = work.array<uint32_t>(0);
  uint32_t *from = work.array<uint32_t>(1), *to = work.array<uint32_t>(2);
  const long n = work.number(0);
  std::copy(in, in + n, from);
  std::vector<Counts> counts(static_cast<size_t>(omp_get_max_threads()));
  for (int shift = 0; shift < 32; shift += 4, std::swap(from, to)) {
#pragma omp parallel
    {
      const long thread = omp_get_thread_num(), threads = omp_get_num_threads(), each = (n + threads - 1) / threads;
      const long first = thread * each, end = std::min(n, first + each);
      Counts mine{};
      for (long i = first; i < end; ++i) ++mine[from[i] >> shift & (kDigits - 1)];
      counts[static_cast<size_t>(thread)] = mine;
#pragma omp barrier
#pragma omp single
      find_places(counts);
      Counts next = counts[static_cast<size_t>(thread)];
      for (long i = first; i < end; ++i) to[next[from[i] >> shift & (kDigits - 1)]++] = from[i];
    }
  }
}

}  // namespace trine::bench_compute
