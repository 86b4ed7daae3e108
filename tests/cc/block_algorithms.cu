// <trine/block.h>, <trine/block_sort.h>: blocks of all sizes, of one to three dimensions, numbers and structs, against
// plain loops. Random values with a printed seed.
#include <trine/block_sort.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

constexpr int kBins = 37;
template <class T>
constexpr int kItems = sizeof(T) <= 8 ? 5 : 2;
int failures = 0;

// x -> scale x + offset: composition is associative and does not commute.
struct Affine {
  uint64_t scale, offset;
  uint32_t mark;
  __host__ __device__ bool operator==(const Affine& o) const {
    return scale == o.scale && offset == o.offset && mark == o.mark;
  }
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
    return {b.scale * a.scale, b.scale * a.offset + b.offset, a.mark * 3 + b.mark - a.mark * 2};
  }
};
struct ByScale {
  __host__ __device__ bool operator()(const Affine& a, const Affine& b) const { return a.scale % 8 < b.scale % 8; }
};

template <class T>
struct Results {
  T reduced[1024], inclusive[1024], exclusive[1024], total[1024], warp_reduced[1024], warp_inclusive[1024],
      warp_exclusive[1024], sorted[1024 * kItems<T>], part[1024 * kItems<T>], striped[1024 * kItems<T>];
  unsigned bins[kBins];
};

template <int kThreads, class T, class Op, class Less>
__global__ void __launch_bounds__(kThreads)
    kernel(const T* in, const int* numbers, int count, T initial, Results<T>* out, Op op, Less less) {
  const int rank = trine::thread_rank(), threads = trine::block_threads();
  const T x = in[rank];
  out->reduced[rank] = trine::block_reduce(x, op);
  T total = x;
  out->inclusive[rank] = trine::block_inclusive_scan(x, op);
  out->exclusive[rank] = trine::block_exclusive_scan(x, op, initial, total);
  out->total[rank] = total;
  out->warp_reduced[rank] = trine::warp_reduce(x, op);
  out->warp_inclusive[rank] = trine::warp_inclusive_scan(x, op);
  out->warp_exclusive[rank] = trine::warp_exclusive_scan(x, op, initial);
  T items[kItems<T>];
  trine::block_load_blocked(in, threads * kItems<T>, items);
  trine::block_sort<kThreads>(items, less);
  trine::block_store_blocked(out->sorted, threads * kItems<T>, items);
  trine::block_load_blocked(in, count, items);
  trine::block_sort<kThreads>(items, less, count);
  trine::block_store_blocked(out->part, count, items);
  trine::block_load_striped(in, count, items);
  trine::block_store_striped(out->striped, count, items);
  __shared__ unsigned bins[kBins];
  int own[kItems<T>];
  trine::block_load_striped(numbers, threads * kItems<T>, own);
  trine::block_histogram(bins, kBins, own);
  for (int bin = rank; bin < kBins; bin += threads) out->bins[bin] = bins[bin];
}

template <class T>
void expect(const char* what, int threads, const T* got, const std::vector<T>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(got[i] == expected[i])) {
      printf("%s of %zu bytes, %d threads: element %zu is wrong\n", what, sizeof(T), threads, i);
      ++failures;
      return;
    }
}

template <class T, class Op>
std::vector<T> scanned(const std::vector<T>& x, int segment, Op op) {
  std::vector<T> to(x);
  for (size_t i = 0; i < x.size(); ++i)
    if (i % segment) to[i] = op(to[i - 1], x[i]);
  return to;
}
// Of each segment: initial, then what the inclusive one has, combined with it.
template <class T, class Op>
std::vector<T> shifted(const std::vector<T>& inclusive, int segment, T initial, Op op) {
  std::vector<T> to(inclusive);
  for (size_t i = 0; i < to.size(); ++i) to[i] = i % segment ? op(initial, inclusive[i - 1]) : initial;
  return to;
}
template <class T>
std::vector<T> last_of_each(const std::vector<T>& inclusive, int segment) {
  std::vector<T> to(inclusive);
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = inclusive[std::min(to.size(), (i / segment + 1) * size_t(segment)) - 1];
  return to;
}

template <class T>
T* managed(size_t count) {
  T* data = nullptr;
  if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  return data;
}

template <int kThreads, class T, class Op, class Less, class Random>
void run(dim3 block, Op op, Less less, Random random) {
  const int threads = block.x * block.y * block.z, all = threads * kItems<T>, count = random() % (all + 1);
  static T* in = managed<T>(1024 * kItems<T>);
  static int* numbers = managed<int>(1024 * kItems<T>);
  static Results<T>* out = managed<Results<T>>(1);
  std::vector<T> x, sorted;
  std::vector<unsigned> bins(kBins);
  for (int i = 0; i < all; ++i) {
    in[i] = random.template value<T>();
    numbers[i] = int(random() % (kBins + 4)) - 2;
    if (numbers[i] >= 0 && numbers[i] < kBins) ++bins[numbers[i]];
  }
  const T initial = random.template value<T>();
  memset(static_cast<void*>(out), 0x5a, sizeof *out);
  kernel<kThreads><<<1, block>>>(in, numbers, count, initial, out, op, less);
  if (const cudaError_t error = cudaDeviceSynchronize()) {
    printf("%d threads: %s\n", threads, cudaGetErrorString(error));
    std::exit(1);
  }
  x.assign(in, in + threads);
  const std::vector<T> inclusive = scanned(x, threads, op), in_warps = scanned(x, 32, op);
  expect("block_reduce", threads, out->reduced, std::vector<T>(threads, inclusive.back()));
  expect("block_inclusive_scan", threads, out->inclusive, inclusive);
  expect("block_exclusive_scan", threads, out->exclusive, shifted(inclusive, threads, initial, op));
  expect("block_exclusive_scan's total", threads, out->total, std::vector<T>(threads, inclusive.back()));
  expect("warp_reduce", threads, out->warp_reduced, last_of_each(in_warps, 32));
  expect("warp_inclusive_scan", threads, out->warp_inclusive, in_warps);
  expect("warp_exclusive_scan", threads, out->warp_exclusive, shifted(in_warps, 32, initial, op));
  sorted.assign(in, in + all);
  std::stable_sort(sorted.begin(), sorted.end(), less);
  expect("block_sort", threads, out->sorted, sorted);
  sorted.assign(in, in + count);
  expect("striped load and store", threads, out->striped, sorted);
  std::stable_sort(sorted.begin(), sorted.end(), less);
  expect("block_sort of a part", threads, out->part, sorted);
  expect("block_histogram", threads, out->bins, bins);
}

struct Random {
  std::mt19937_64& rng;
  uint64_t operator()() { return rng(); }
  template <class T>
  T value() {
    return T(int(rng() % 1000) - 300);  // sums are exact
  }
};
template <>
Affine Random::value<Affine>() {
  return {rng() % 100, rng(), uint32_t(rng())};
}

void all_types(dim3 block, std::mt19937_64& rng) {
  const Random random{rng};
  run<1024, int>(block, trine::Plus{}, trine::Less{}, random);
  run<1024, float>(block, trine::Plus{}, trine::Less{}, random);
  run<1024, double>(block, trine::Maximum{}, trine::Less{}, random);
  run<1024, uint64_t>(block, trine::Minimum{}, trine::Less{}, random);
}
// 24 bytes: a tile of 48 KB would be too much.
void structs(dim3 block, std::mt19937_64& rng) { run<512, Affine>(block, Compose{}, ByScale{}, Random{rng}); }

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::stoull(argv[1]) : static_cast<uint64_t>(time(nullptr));
  printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 rng(seed);
  for (int threads : {1, 31, 33, 100, 255}) {
    all_types(threads, rng);
    if (threads < 100) structs(threads, rng);
  }
  for (int threads = 32; threads <= 1024; threads += 32) {
    run<1024, int>(threads, trine::Plus{}, trine::Less{}, Random{rng});
    if (threads % 128 == 0) all_types(threads, rng);
    if (threads == 96 || threads == 256 || threads == 512) structs(threads, rng);
  }
  all_types(dim3(7, 9, 3), rng);
  if (failures == 0) printf("passed\n");
  return failures != 0;
}
