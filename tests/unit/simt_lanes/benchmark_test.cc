// Figures, asked for by name: test_simt_lanes --gtest_also_run_disabled_tests --gtest_filter='*Benchmark*'
//
// Kernels in lanes beside the same written by hand with vectors of 16 numbers, one core.
#ifdef __x86_64__
#include <gtest/gtest.h>
#include <immintrin.h>

#include <chrono>
#include <cmath>

#include "lanes_program.h"

namespace trine::simt {
namespace {

using Floats = float __attribute__((vector_size(64), aligned(4)));
using Words = uint32_t __attribute__((vector_size(64), aligned(4)));
#define BY_HAND __attribute__((noinline, target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")))

template <class F>
double best_ms(const F& run) {
  double best = 1e9;
  for (int i = 0; i < 15; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

BY_HAND void bodies_by_hand(const float* x, const float* y, const float* z, const float* m, float* out, int n) {
  for (int i = 0; i < n; i += 16) {
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

BY_HAND void collatz_by_hand(const uint32_t* in, uint32_t* out, int n) {
  for (int i = 0; i < n; i += 16) {
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

BY_HAND void add_by_hand(const float* x, float* y, float a, int n) {
  for (int i = 0; i < n; i += 16) *reinterpret_cast<Floats*>(y + i) += a * *reinterpret_cast<const Floats*>(x + i);
}

void report(const char* name, double ours, double by_hand) {
  std::printf("%-10s lanes %8.3f ms, by hand %8.3f ms: %.2f\n", name, ours, by_hand, ours / by_hand);
}

const char* const kSource = R"(
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
    ta[y][x] = a[row * n + k + x]; tb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += ta[y][j] * tb[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
})";

TEST(LanesBenchmark, DISABLED_BesideVectorsByHand) {
  if (!__builtin_cpu_supports("avx512dq")) GTEST_SKIP() << "vectors of 16 numbers need AVX-512";
  LanesProgram program(kSource);
  const int n = 2048;
  std::vector<float> x(n), y(n), z(n), m(n), out(n), expected(n);
  for (int i = 0; i < n; ++i)
    x[size_t(i)] = float(i % 37), y[size_t(i)] = float(i % 11), z[size_t(i)] = float(i % 5), m[size_t(i)] = 1;
  for (const int width : {16, 32, 0}) {
    const auto lanes = [&] {
      program.run("bodies", {n / 256}, {256}, width, x.data(), y.data(), z.data(), m.data(), out.data(), n);
    };
    lanes();
    report("n-body", best_ms(lanes),
           best_ms([&] { bodies_by_hand(x.data(), y.data(), z.data(), m.data(), expected.data(), n); }));
    for (int i = 0; i < n; ++i)
      ASSERT_NEAR(out[size_t(i)], expected[size_t(i)], 1e-3 * std::abs(expected[size_t(i)]) + 1e-3);
  }
  const int count = 1 << 16;
  std::vector<uint32_t> in(count), steps(count), by_hand(count);
  for (int i = 0; i < count; ++i) in[size_t(i)] = uint32_t(i + 1);
  for (const int width : {16, 32, 0}) {
    const auto lanes = [&] { program.run("collatz", {count / 256}, {256}, width, in.data(), steps.data(), count); };
    lanes();
    report("collatz", best_ms(lanes), best_ms([&] { collatz_by_hand(in.data(), by_hand.data(), count); }));
    ASSERT_EQ(steps, by_hand);
  }
  const int large = 1 << 24;
  std::vector<float> u(large + 16, 1.0f), v(large + 16, 2.0f);
  const auto aligned = [](std::vector<float>& of) { return of.data() + (64 - uintptr_t(of.data()) % 64) / 4; };
  for (const int off : {0, 1}) {  // vectors within lines of the cache, and across them
    const float* from = aligned(u) - off;
    float* to = aligned(v) - off;
    const auto lanes = [&] { program.run("saxpy", {large / 256}, {256}, 0, from, to, 0.5f, large); };
    lanes();
    report(off ? "saxpy + 4" : "saxpy", best_ms(lanes), best_ms([&] { add_by_hand(from, to, 0.5f, large); }));
  }
  const int side = 512;
  std::vector<float> a(side * side, 0.5f), b(side * side, 0.25f), c(side * side);
  const auto tiles = [&] {
    program.run("product", {side / 16, side / 16}, {16, 16}, 0, a.data(), b.data(), c.data(), side);
  };
  tiles();
  const double ms = best_ms(tiles);
  std::printf("tiled product of 512: %.2f ms, %.1f GFLOP/s\n", ms, 2.0 * side * side * side / ms * 1e-6);
}

}  // namespace
}  // namespace trine::simt
#endif
