// <trine/algorithms.h> against the standard library: numbers and structs, sizes around warps and blocks, a million and
// three. Random values with a printed seed; what is behind an output's end must not be touched.
#include <trine/algorithms.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

std::mt19937_64 rng;
std::string doing;
int failures = 0;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    printf("%s: %s\n", doing.c_str(), cudaGetErrorString(error));
    std::exit(1);
  }
}

// In device memory, with a poisoned end.
template <class T>
class Array {
 public:
  static constexpr size_t kEnd = 64;
  explicit Array(const std::vector<T>& values) : size_(values.size()) {
    std::vector<T> all(values);
    all.resize(size_ + kEnd);
    std::memset(static_cast<void*>(all.data() + size_), 0x5a, kEnd * sizeof(T));
    check(cudaMalloc(&data_, all.size() * sizeof(T)));
    check(cudaMemcpy(data_, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Array(size_t size) : Array(std::vector<T>(size)) {}
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  T* get() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> all(size_ + kEnd);
    check(cudaMemcpy(all.data(), data_, all.size() * sizeof(T), cudaMemcpyDeviceToHost));
    const auto* end = reinterpret_cast<const unsigned char*>(all.data() + size_);
    if (std::count(end, end + kEnd * sizeof(T), 0x5a) != static_cast<ptrdiff_t>(kEnd * sizeof(T))) {
      printf("%s: written behind the end\n", doing.c_str());
      ++failures;
    }
    all.resize(size_);
    return all;
  }

 private:
  size_t size_;
  T* data_ = nullptr;
};

template <class T>
void expect(const std::vector<T>& got, const std::vector<T>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(got[i] == expected[i])) {
      printf("%s, %s: element %zu is wrong\n", doing.c_str(), what, i);
      ++failures;
      return;
    }
}

// x -> scale x + offset in 64 bits: composition is associative and does not commute.
struct Affine {
  uint64_t scale, offset;
  uint32_t mark;
  bool operator==(const Affine& o) const { return scale == o.scale && offset == o.offset && mark == o.mark; }
};
struct Compose {  // first a, then b
  __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
    return {b.scale * a.scale, b.scale * a.offset + b.offset, b.mark};
  }
};
struct Add {  // of each member: commutes
  __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
    return {a.scale + b.scale, a.offset + b.offset, a.mark + b.mark};
  }
};
struct ByScale {
  __host__ __device__ bool operator()(const Affine& a, const Affine& b) const { return a.scale % 64 < b.scale % 64; }
};
struct SameScale {
  __host__ __device__ bool operator()(const Affine& a, const Affine& b) const { return a.scale % 2 == b.scale % 2; }
};

// Sums of a million of these are exact in each type.
template <class T>
T random_value(bool wide) {
  if (!wide) return T(int(rng() % 9) - 3);
  if constexpr (std::is_floating_point_v<T>) {
    const int kind = rng() % 16;
    return kind == 0 ? T(-0.0) : kind == 1 ? T(0) : T(int64_t(rng())) * T(std::ldexp(1.0, int(rng() % 40) - 50));
  } else {
    return T(rng());
  }
}
template <>
Affine random_value(bool) {
  return {rng() % 1000 + 1, rng(), uint32_t(rng())};
}
template <class T>
std::vector<T> random_values(size_t n, bool wide) {
  std::vector<T> values(n);
  for (T& v : values) v = random_value<T>(wide);
  return values;
}

template <class T, class ScanOp, class ReduceOp>
void sums(size_t n, ScanOp scan_op, ReduceOp reduce_op, cudaStream_t stream) {
  const std::vector<T> x = random_values<T>(n, false);
  const T initial = random_value<T>(false);
  const Array<T> in(x), out(n), one(1);
  check(trine::reduce(in.get(), n, one.get(), initial, reduce_op, stream));
  expect(one.values(), {std::accumulate(x.begin(), x.end(), initial, reduce_op)}, "reduce");
  std::vector<T> expected(n);
  std::inclusive_scan(x.begin(), x.end(), expected.begin(), scan_op);
  check(trine::inclusive_scan(in.get(), n, out.get(), scan_op, stream));
  expect(out.values(), expected, "inclusive_scan");
  std::exclusive_scan(x.begin(), x.end(), expected.begin(), initial, scan_op);
  check(trine::exclusive_scan(in.get(), n, out.get(), initial, scan_op, stream));
  expect(out.values(), expected, "exclusive_scan");
  check(trine::exclusive_scan(in.get(), n, in.get(), initial, scan_op, stream));
  expect(in.values(), expected, "exclusive_scan in place");
}

template <class T, class Predicate, class Same>
void selections(size_t n, Predicate predicate, Same same, cudaStream_t stream) {
  const std::vector<T> x = random_values<T>(n, false);
  std::vector<T> expected;
  std::copy_if(x.begin(), x.end(), std::back_inserter(expected), predicate);
  const Array<T> in(x), some(expected.size());
  const Array<size_t> count(1);
  check(trine::copy_if(in.get(), n, some.get(), count.get(), predicate, stream));
  expect(count.values(), {expected.size()}, "copy_if's count");
  expect(some.values(), expected, "copy_if");
  expected.clear();
  for (size_t i = 0; i < n; ++i)
    if (i == 0 || !same(x[i - 1], x[i])) expected.push_back(x[i]);
  const Array<T> firsts(expected.size());
  check(trine::unique(in.get(), n, firsts.get(), count.get(), same, stream));
  expect(count.values(), {expected.size()}, "unique's count");
  expect(firsts.values(), expected, "unique");
}

template <class T, class Less>
void sorts(size_t n, Less less, cudaStream_t stream) {
  std::vector<T> x = random_values<T>(n, rng() % 2);
  const Array<T> keys(x), data(x);
  std::vector<unsigned> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const Array<unsigned> values(order);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return less(x[a], x[b]); });
  std::stable_sort(x.begin(), x.end(), less);
  check(trine::sort(data.get(), n, less, stream));
  expect(data.values(), x, "sort");
  check(trine::sort_by_key(keys.get(), values.get(), n, less, stream));
  expect(keys.values(), x, "sort_by_key's keys");
  expect(values.values(), order, "sort_by_key's values");
}

template <class T>
void numbers(const char* type, size_t n, cudaStream_t stream) {
  doing = std::string(type) + ", " + std::to_string(n) + " elements";
  sums<T>(n, trine::Plus{}, trine::Plus{}, stream);
  const std::vector<T> x = random_values<T>(n, true);
  const Array<T> in(x), one(1), out(n);
  check(trine::reduce(in.get(), n, one.get(), T(1), trine::Maximum{}, stream));
  expect(one.values(), {std::accumulate(x.begin(), x.end(), T(1), [](T a, T b) { return std::max(a, b); })}, "maximum");
  check(trine::transform(in.get(), n, out.get(), [] __device__(T v) { return v * T(2); }, stream));
  std::vector<T> expected(n);
  std::transform(x.begin(), x.end(), expected.begin(), [](T v) { return v * T(2); });
  expect(out.values(), expected, "transform");
  check(trine::transform(in.get(), out.get(), n, out.get(), trine::Plus{}, stream));
  std::transform(x.begin(), x.end(), expected.begin(), [](T v) { return v + v * T(2); });
  expect(out.values(), expected, "transform of two");
  selections<T>(n, [] __host__ __device__(T v) { return v > T(1); }, trine::Equal{}, stream);
  sorts<T>(n, trine::Less{}, stream);
}

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::stoull(argv[1]) : static_cast<uint64_t>(time(nullptr));
  printf("seed %llu\n", static_cast<unsigned long long>(seed));
  rng.seed(seed);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  for (size_t n : {0, 1, 31, 32, 33, 96, 256, 1024, 2049, 5000, 1000003}) {
    const cudaStream_t on = n % 2 ? stream : nullptr;
    numbers<int>("int", n, on);
    numbers<float>("float", n, on);
    numbers<double>("double", n, on);
    numbers<uint64_t>("uint64_t", n, on);
    doing = "struct, " + std::to_string(n) + " elements";
    sums<Affine>(n, Compose{}, Add{}, on);
    selections<Affine>(n, [] __host__ __device__(const Affine& v) { return v.scale % 3 == 0; }, SameScale{}, on);
    sorts<Affine>(n, ByScale{}, on);
    doing = "by another order, " + std::to_string(n) + " elements";
    sorts<int>(n, [] __host__ __device__(int a, int b) { return a % 16 > b % 16; }, on);
    sorts<signed char>(n, trine::Less{}, on);
    sorts<uint16_t>(n, trine::Less{}, on);
  }
  check(cudaDeviceSynchronize());
  if (failures == 0) printf("passed\n");
  return failures != 0;
}
