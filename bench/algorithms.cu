// Times the algorithms of <trine/algorithms.h>, those of the standard library on one thread, and, with -DWITH_THRUST,
// those of Thrust, in one run: medians of milliseconds; docs/algorithms.md.
//
//   trine cc bench/algorithms.cu -O3 -DWITH_THRUST -o algorithms && ./algorithms [elements]
#include <trine/algorithms.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#ifdef WITH_THRUST
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#endif

struct Twice {
  __host__ __device__ int operator()(int x) const { return x * 2; }
};
struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Down {
  __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

constexpr int kRuns = 7;
using Work = std::function<void()>;

// `prepare` is not timed. The first run compiles.
double median_ms(const Work& prepare, const Work& work) {
  std::vector<double> times;
  for (int run = 0; run <= kRuns; ++run) {
    prepare();
    cudaDeviceSynchronize();
    const auto start = std::chrono::steady_clock::now();
    work();
    cudaDeviceSynchronize();
    if (run > 0)
      times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

template <class T>
T* device(size_t count) {
  T* data = nullptr;
  if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  return data;
}

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'019;
  std::mt19937 random(1);
  std::vector<int> x(n), y(n), runs(n);
  std::vector<unsigned> indices(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = static_cast<int>(random());
    runs[i] = static_cast<int>(i / 3);
  }
  std::iota(indices.begin(), indices.end(), 0u);
  int *in = device<int>(n), *out = device<int>(n), *run = device<int>(n), *one = device<int>(1);
  unsigned* values = device<unsigned>(n);
  size_t* count = device<size_t>(1);
  const size_t bytes = n * sizeof(int);
  cudaMemcpy(in, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(run, runs.data(), bytes, cudaMemcpyHostToDevice);
  const Work nothing = [] {};
  const Work fill_host = [&] { y = x; };
  const Work fill = [&] {
    cudaMemcpy(out, in, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpy(values, indices.data(), bytes, cudaMemcpyHostToDevice);
  };
  volatile int sink = 0;

  struct Row {
    const char* name;
    Work prepare, ours, thrust, prepare_host, host;
  };
#ifdef WITH_THRUST
  const auto of = [](auto* p) { return thrust::device_pointer_cast(p); };
#define THRUST(...) [&] { __VA_ARGS__; }
#else
#define THRUST(...) Work()
#endif
  const Row rows[] = {
      {"transform", nothing, [&] { trine::transform(in, n, out, Twice{}); },
       THRUST(thrust::transform(of(in), of(in) + n, of(out), Twice{})), nothing,
       [&] { std::transform(x.begin(), x.end(), y.begin(), Twice{}); }},
      {"reduce", nothing, [&] { trine::reduce(in, n, one, 0); }, THRUST(sink = thrust::reduce(of(in), of(in) + n, 0)),
       nothing, [&] { sink = std::reduce(x.begin(), x.end(), 0); }},
      {"inclusive_scan", nothing, [&] { trine::inclusive_scan(in, n, out); },
       THRUST(thrust::inclusive_scan(of(in), of(in) + n, of(out))), nothing,
       [&] { std::inclusive_scan(x.begin(), x.end(), y.begin()); }},
      {"copy_if", nothing, [&] { trine::copy_if(in, n, out, count, Odd{}); },
       THRUST(thrust::copy_if(of(in), of(in) + n, of(out), Odd{})), nothing,
       [&] { std::copy_if(x.begin(), x.end(), y.begin(), Odd{}); }},
      {"unique", nothing, [&] { trine::unique(run, n, out, count); },
       THRUST(thrust::unique_copy(of(run), of(run) + n, of(out))), nothing,
       [&] { std::unique_copy(runs.begin(), runs.end(), y.begin()); }},
      {"sort", fill, [&] { trine::sort(out, n); }, THRUST(thrust::sort(of(out), of(out) + n)), fill_host,
       [&] { std::sort(y.begin(), y.end()); }},
      {"sort, own order", fill, [&] { trine::sort(out, n, Down{}); },
       THRUST(thrust::stable_sort(of(out), of(out) + n, Down{})), fill_host,
       [&] { std::stable_sort(y.begin(), y.end(), Down{}); }},
      {"sort_by_key", fill, [&] { trine::sort_by_key(out, values, n); },
       THRUST(thrust::stable_sort_by_key(of(out), of(out) + n, of(values))),
       [&] { std::iota(indices.begin(), indices.end(), 0u); },
       [&] { std::stable_sort(indices.begin(), indices.end(), [&](unsigned a, unsigned b) { return x[a] < x[b]; }); }},
  };
  std::printf("%zu elements of int; ms, medians of %d\n%-16s %9s %9s %9s\n", n, kRuns, "", "trine", "thrust", "std");
  for (const Row& row : rows) {
    const double ours = median_ms(row.prepare, row.ours), host = median_ms(row.prepare_host, row.host);
    std::printf("%-16s %9.2f ", row.name, ours);
    if (row.thrust) std::printf("%9.2f ", median_ms(row.prepare, row.thrust));
    else std::printf("%9s ", "-");
    std::printf("%9.2f\n", host);
    std::fflush(stdout);
  }
  if (const cudaError_t error = cudaGetLastError()) return std::printf("%s\n", cudaGetErrorString(error)), 1;
}
