// Kernels in lanes beside the same written by hand with vectors of 16 numbers, on the same number of threads, least of
// 15 runs that take turns.
//
//   bench_lanes        n-body, Collatz, saxpy, a product by tiles (512); 1 = as fast as by hand
//
// Exits with 1 when results differ.
#include <cstdio>

#ifndef __x86_64__
int main() { std::puts("bench_lanes: vectors by hand are written for x86-64"); }
#else
#include <immintrin.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "trine/base/thread_pool.h"
#include "trine/compute/module.h"

namespace {

using namespace trine::compute;

using Floats = float __attribute__((vector_size(64), aligned(4)));
using Words = uint32_t __attribute__((vector_size(64), aligned(4)));
#define BY_HAND __attribute__((noinline, target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")))

struct Times {
  double lanes = 1e9, by_hand = 1e9;  // ms
};

template <class F>
void keep_best(double& best, const F& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
}

template <class F, class G>
Times measure(const F& lanes, const G& by_hand) {
  Times times;
  for (int i = 0; i < 15; ++i) keep_best(times.lanes, lanes), keep_best(times.by_hand, by_hand);
  return times;
}

BY_HAND void bodies_by_hand(const float* x, const float* y, const float* z, const float* m, float* out, int n,
                            int begin, int end) {
  for (int i = begin; i < end; i += 16) {
    const Floats xi = *reinterpret_cast<const Floats*>(x + i), yi = *reinterpret_cast<const Floats*>(y + i),
                 zi = *reinterpret_cast<const Floats*>(z + i);
    Floats a = {};
    for (int j = 0; j < n; ++j) {
      const Floats dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      const Floats r = dx * dx + dy * dy + dz * dz + 0.01f;
      const Floats root = Floats(_mm512_sqrt_ps(__m512(r)));
      a += dx * (m[j] / (r * root));
    }
    *reinterpret_cast<Floats*>(out + i) = a;
  }
}

BY_HAND void collatz_by_hand(const uint32_t* in, uint32_t* out, int begin, int end) {
  for (int i = begin; i < end; i += 16) {
    Words v = *reinterpret_cast<const Words*>(in + i), steps = {};
    for (;;) {
      const __mmask16 live = _mm512_cmpneq_epi32_mask(__m512i(v), _mm512_set1_epi32(1));
      if (!live) break;
      const Words next = (v & 1) != 0 ? 3 * v + 1 : v >> 1;
      v = Words(_mm512_mask_mov_epi32(__m512i(v), live, __m512i(next)));
      steps = Words(_mm512_mask_add_epi32(__m512i(steps), live, __m512i(steps), _mm512_set1_epi32(1)));
    }
    *reinterpret_cast<Words*>(out + i) = steps;
  }
}

BY_HAND void add_by_hand(const float* x, float* y, float a, int begin, int end) {
  for (int i = begin; i < end; i += 16)
    *reinterpret_cast<Floats*>(y + i) += a * *reinterpret_cast<const Floats*>(x + i);
}

constexpr const char* kSource = R"(
#pragma clang fp contract(fast)
__global__ void bodies(const float* x, const float* y, const float* z, const float* m, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, xi = x[i], yi = y[i], zi = z[i];
  for (int j = 0; j < n; ++j) {
    float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi, r = dx * dx + dy * dy + dz * dz + 0.01f;
    a += dx * (m[j] / (r * __builtin_sqrtf(r)));
  }
  out[i] = a;
}
__global__ void collatz(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i], steps = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v >> 1; ++steps; }
  out[i] = steps;
}
__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x], tb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += ta[y][j] * tb[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
})";

class Bench {
 public:
  int run() {
    std::printf("%d threads\n", pool_.threads());
    bodies();
    collatz();
    for (const int off : {0, 1}) saxpy(off);  // vectors within lines of the cache, and across them
    product();
    return right_ ? 0 : 1;
  }

 private:
  std::vector<float> numbers(size_t n) {
    std::vector<float> v(n);
    std::normal_distribution<float> normal;
    for (float& x : v) x = normal(random_);
    return v;
  }

  // body(begin, end) for numbers 0 to n, by 256.
  template <class F>
  void on_all_threads(int n, const F& body) {
    pool_.parallel_for(n / 256, 1, [&](int64_t begin, int64_t end) { body(int(begin * 256), int(end * 256)); });
  }

  void report(const char* name, const Times& t, bool same) {
    std::printf("%-16s lanes %8.3f ms, by hand %8.3f ms: %.2f%s\n", name, t.lanes, t.by_hand, t.lanes / t.by_hand,
                same ? "" : "  RESULTS DIFFER");
    right_ = right_ && same;
  }

  void bodies() {
    const int n = 2048;
    const std::vector<float> x = numbers(n), y = numbers(n), z = numbers(n), m = numbers(n);
    std::vector<float> out(n, NAN), expected(n, NAN);
    const Kernel kernel = module_.kernel("bodies");
    const LaunchShape shape{.grid = {n / 256}, .block = {256}};
    const Times t =
        measure([&] { kernel.launch(stream_, shape, x.data(), y.data(), z.data(), m.data(), out.data(), n); },
                [&] {
                  on_all_threads(n, [&](int begin, int end) {
                    bodies_by_hand(x.data(), y.data(), z.data(), m.data(), expected.data(), n, begin, end);
                  });
                });
    bool same = true;
    for (size_t i = 0; i < out.size(); ++i)
      same = same && std::abs(out[i] - expected[i]) <= 1e-2 + 1e-3 * std::abs(expected[i]);
    report("n-body", t, same);
  }

  void collatz() {
    const int n = 1 << 16;
    std::vector<uint32_t> in(n), out(n), expected(n);
    for (uint32_t& x : in) x = 1 + random_() % 65536;
    const Kernel kernel = module_.kernel("collatz");
    const LaunchShape shape{.grid = {n / 256}, .block = {256}};
    const Times t = measure(
        [&] { kernel.launch(stream_, shape, in.data(), out.data(), n); },
        [&] {
          on_all_threads(n, [&](int begin, int end) { collatz_by_hand(in.data(), expected.data(), begin, end); });
        });
    report("collatz", t, out == expected);
  }

  void saxpy(int off) {
    const int n = 1 << 24;
    const std::vector<float> x = numbers(n + 16);
    std::vector<float> y = x, z = x;
    const auto place = [&](const std::vector<float>& of) {
      return (64 - reinterpret_cast<uintptr_t>(of.data()) % 64) / 4 - off;
    };
    const float* from = x.data() + place(x);
    float *to = y.data() + place(y), *also = z.data() + place(z);
    const Kernel kernel = module_.kernel("saxpy");
    const LaunchShape shape{.grid = {n / 256}, .block = {256}};
    const Times t =
        measure([&] { kernel.launch(stream_, shape, from, to, 0.5f, n); },
                [&] { on_all_threads(n, [&](int begin, int end) { add_by_hand(from, also, 0.5f, begin, end); }); });
    bool same = true;
    for (int i = 0; i < n; i += 31) same = same && std::abs(to[i] - also[i]) <= 1e-5f * std::abs(also[i]) + 1e-5f;
    report(off ? "saxpy + 4 bytes" : "saxpy", t, same);
  }

  void product() {
    const int n = 512;
    const auto size = static_cast<size_t>(n) * n;
    const std::vector<float> a = numbers(size), b = numbers(size);
    std::vector<float> c(size, NAN);
    const Kernel kernel = module_.kernel("product");
    const LaunchShape shape{.grid = {n / 16, n / 16}, .block = {16, 16}};
    double ms = 1e9;
    for (int i = 0; i < 15; ++i) keep_best(ms, [&] { kernel.launch(stream_, shape, a.data(), b.data(), c.data(), n); });
    bool same = true;
    for (size_t i = 0; i < size; i += 4099) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += double{a[i / n * n + k]} * b[k * n + i % n];
      same = same && std::abs(c[i] - sum) < 1e-2;
    }
    std::printf("%-16s lanes %8.3f ms, %.1f GFLOP/s%s\n", "tiles", ms, 2.0 * n * n * n / ms * 1e-6,
                same ? "" : "  RESULTS DIFFER");
    right_ = right_ && same;
  }

  std::mt19937 random_{std::random_device{}()};
  Device device_ = Device::open("cpu");
  Stream stream_ = device_.create_stream();
  Module module_ = Module::compile(device_, kSource, {.mode = CpuMode::lanes});
  trine::ThreadPool pool_;
  bool right_ = true;
};

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx512dq")) return std::puts("bench_lanes: vectors of 16 numbers need AVX-512"), 0;
  return Bench().run();
}
#endif
