// Each construct of kernels in lanes of every width, on blocks of awkward sizes, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lanes_program.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

using Ints = std::vector<int>;
constexpr int kPoison = 0x5a5a5a5a;

Ints random_ints(size_t count, int below) {
  static std::mt19937 random(test_seed());
  Ints values(count);
  for (int& value : values) value = int(random() % uint32_t(below));
  return values;
}

// `k(const int* in, int* out, int n)` with a thread for each element and 7 more; `expected` says what thread i writes
// to out[i], given `in`.
void check(const char* source, const std::function<int(const Ints& in, int i, int block)>& expected, int below = 100,
           std::vector<int> widths = {8, 16, 32, 0}) {
  LanesProgram program(source);
  const auto run = [&](int width, uint32_t block) {
    const int n = int(block) * 2 - 7;
    const Ints in = random_ints(size_t(block) * 2, below);
    Ints out(in.size(), kPoison);
    program.run("k", {2}, {block}, width, in.data(), out.data(), n);
    for (int i = 0; i < int(out.size()); ++i)
      ASSERT_EQ(out[size_t(i)], i < n ? expected(in, i, int(block)) : kPoison)
          << "width " << width << ", block " << block << ", thread " << i;
  };
  for (const int width : widths)
    for (const uint32_t block : {1u, 31u, 32u, 33u, 96u, 256u, 1024u}) run(width, block);
  for (const CpuLevel level : {CpuLevel::avx2, CpuLevel::baseline}) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, std::string(name(level)));
    limit_cpu_level(level);
    program = LanesProgram(source);
    for (const int width : {widths[0], widths.back()})
      for (const uint32_t block : {31u, 32u, 96u}) run(width, block);
    limit_cpu_level({});
  }
}

TEST(Lanes, Addition) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 3 + n; })",
        [](const Ints& in, int i, int block) { return in[size_t(i)] * 3 + block * 2 - 7; });
}

TEST(Lanes, BranchesInBranches) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], r = 1;
    if (v > 30) { r = v * 2; if (v > 60) r += in[i] / (v - 30); else r -= 5; } else if (n & 1) r = -v;
    out[i] = r; })",
        [](const Ints& in, int i, int) {
          const int v = in[size_t(i)];
          if (v <= 30) return -v;
          return v > 60 ? v * 2 + v / (v - 30) : v * 2 - 5;
        });
}

TEST(Lanes, DivergentLoop) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i] + 1; int steps = 0;
    while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++steps; }
    out[i] = steps; })",
        [](const Ints& in, int i, int) {
          int steps = 0;
          for (unsigned v = unsigned(in[size_t(i)]) + 1; v != 1; v = v & 1 ? 3 * v + 1 : v / 2) ++steps;
          return steps;
        });
}

TEST(Lanes, BreakAndContinueInUniformLoop) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n) return;
    for (int j = 0; j < 2 * blockDim.x; ++j) {
      if (in[j] == in[i]) continue;
      if (in[j] > in[i] + 60) break;
      sum += in[j];
    }
    out[i] = sum; })",
        [](const Ints& in, int i, int) {
          int sum = 0;
          for (const int x : in) {
            if (x == in[size_t(i)]) continue;
            if (x > in[size_t(i)] + 60) break;
            sum += x;
          }
          return sum;
        });
}

TEST(Lanes, SwitchAndPrivateArray) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = 0, a[8];
    if (i >= n) return;
    for (int j = 0; j < 8; ++j) a[j] = in[i] * j;
    a[in[i] % 8] = 7;
    switch (in[i] % 5) { case 0: r = a[in[i] % 7]; break; case 1: r = 4; case 2: r += in[i] % (1 + in[i] % 3); break;
      case 3: out[i] = -1; return; default: r = -in[i] / 7; }
    out[i] = r; })",
        [](const Ints& in, int i, int) {
          const int v = in[size_t(i)];
          switch (v % 5) {
            case 0: return v % 7 == v % 8 ? 7 : v * (v % 7);
            case 1: return 4 + v % (1 + v % 3);
            case 2: return v % (1 + v % 3);
            case 3: return -1;
            default: return -v / 7;
          }
        });
}

TEST(Lanes, NarrowAndWideNumbers) {
  check(R"(struct Two { short a; double b; };
  __global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ unsigned char c[1024]; __shared__ Two two[1024];
    c[threadIdx.x] = in[i] * 5; two[threadIdx.x].a = -in[i]; two[threadIdx.x].b = in[i] * 0.25;
    long long big = (long long)in[i] << 33;
    bool odd = big >> 33 & 1;
    out[i] = c[threadIdx.x] + two[threadIdx.x].a + int(two[threadIdx.x].b * 4) + odd + int(big / 3 >> 30); })",
        [](const Ints& in, int i, int) {
          const int v = in[size_t(i)];
          return int(uint8_t(v * 5)) - v + v + (v & 1) + int(((int64_t{v} << 33) / 3) >> 30);
        });
}

TEST(Lanes, BarriersInLoop) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    __shared__ int s[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x, keep[4];
    for (int j = 0; j < 4; ++j) keep[j] = threadIdx.x * j;
    s[threadIdx.x] = in[i];
    int v = 0;
    for (int step = 0; step < 3; ++step) {
      __syncthreads();
      v = s[(threadIdx.x + 1) % blockDim.x];
      __syncthreads();
      s[threadIdx.x] = v + keep[in[i] % 4];
    }
    if (i < n) out[i] = v; })",
        [](const Ints& in, int i, int block) {
          const int first = i / block * block;
          Ints s(in.begin() + first, in.begin() + first + block), next = s;
          for (int step = 0; step < 3; ++step) {
            for (int t = 0; t < block; ++t) next[size_t(t)] = s[size_t((t + 1) % block)];
            if (step == 2) break;
            for (int t = 0; t < block; ++t) s[size_t(t)] = next[size_t(t)] + t * (in[size_t(first + t)] % 4);
          }
          return next[size_t(i - first)];
        });
}

TEST(Lanes, BarriersThatCount) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(in[i] > 50), all = __syncthreads_and(in[i] < 99), some = __syncthreads_or(in[i] == 3);
    if (i < n) out[i] = count * 4 + (all != 0) * 2 + (some != 0); })",
        [](const Ints& in, int i, int block) {
          int count = 0, all = 1, some = 0;
          for (int t = i / block * block; t < i / block * block + block; ++t)
            count += in[size_t(t)] > 50, all &= in[size_t(t)] < 99, some |= in[size_t(t)] == 3;
          return count * 4 + all * 2 + some;
        });
}

constexpr const char* kWarpOperations = R"(__global__ void k(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = 0;
    r += __shfl_up_sync(~0u, in[i], 3, 8) + 101 * __shfl_down_sync(~0u, in[i], 2) + 10007 * __shfl_xor_sync(~0u, in[i], 5, 16)
       + 1000003 * __shfl_sync(~0u, in[i], in[i] % 4, 4);
    unsigned ballot = __ballot_sync(~0u, in[i] & 1), half = 0;
    if (in[i] > 50) half = __activemask();
    unsigned same = __match_any_sync(~0u, in[i] % 3);
    int pred, all = __match_all_sync(~0u, in[i] / 1000, &pred);
    r ^= ballot * 3 ^ half * 5 ^ same * 7 ^ all * pred ^ __any_sync(~0u, in[i] == 1) ^ 2 * __all_sync(~0u, in[i] != 1);
    r += __reduce_add_sync(~0u, in[i]) + 17 * __reduce_max_sync(~0u, in[i]);
    out[i] = r; })";

TEST(Lanes, WarpOperations) {
  for (const CpuLevel level : kCpuLevels)
    for (const uint32_t block : {32u, 96u, 1024u}) {
      limit_cpu_level(level);
      LanesProgram program(kWarpOperations);
      const Ints in = random_ints(block, 100);
      Ints out(block, kPoison);
      program.run("k", {1}, {block}, 0, in.data(), out.data());
      for (uint32_t i = 0; i < block; ++i) {
        const uint32_t first = i / 32 * 32, lane = i % 32;
        const auto at = [&](uint32_t l) { return uint32_t(in[first + l]); };
        uint32_t ballot = 0, half = 0, same = 0, sum = 0, most = 0, ones = 0;
        for (uint32_t l = 0; l < 32; ++l) {
          ballot |= (at(l) & 1) << l, half |= uint32_t(at(l) > 50) << l,
              same |= uint32_t(at(l) % 3 == at(lane) % 3) << l;
          sum += at(l), most = std::max(most, at(l)), ones += at(l) == 1;
        }
        uint32_t r = at(lane % 8 >= 3 ? lane - 3 : lane) + 101 * at(lane + 2 < 32 ? lane + 2 : lane) +
                     10007 * at(lane ^ 5) + 1000003 * at(lane / 4 * 4 + at(lane) % 4);
        r ^=
            ballot * 3 ^ (at(lane) > 50 ? half : 0) * 5 ^ same * 7 ^ ~0u ^ uint32_t(ones > 0) ^ 2 * uint32_t(ones == 0);
        EXPECT_EQ(uint32_t(out[i]), r + sum + 17 * most) << name(level) << ", block " << block << ", thread " << i;
      }
    }
  limit_cpu_level({});
}

TEST(Lanes, MasksOfLanes) {
  check(R"(__global__ void k(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned eq, lt, le, ge, gt;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le)); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    if (i < n) out[i] = eq + 3 * lt + 5 * le + 7 * ge + 11 * gt; })",
        [](const Ints&, int i, int block) {
          const uint32_t own = 1u << (i % block % 32), less = own - 1;
          return int(own + 3 * less + 5 * (less | own) + 7 * ~less + 11 * ~(less | own));
        });
}

TEST(Lanes, BlocksOfTwoAndThreeDimensions) {
  LanesProgram program(R"(__global__ void k(int* out) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * blockDim.x * blockDim.y * blockDim.z + t] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z + 1000000 * b; })");
  for (const int width : {8, 16, 32, 0})
    for (const Dim3& block : {Dim3{16, 16}, Dim3{32, 4, 2}, Dim3{3, 5, 7}, Dim3{1, 33}, Dim3{8, 8, 4}, Dim3{48, 2}}) {
      Ints out(block.volume() * 12, kPoison);
      program.run("k", {2, 3, 2}, block, width, out.data());
      for (uint32_t i = 0; i < out.size(); ++i) {
        const uint32_t t = i % uint32_t(block.volume()), b = i / uint32_t(block.volume());
        const uint32_t x = t % block.x, y = t / block.x % block.y, z = t / block.x / block.y;
        ASSERT_EQ(uint32_t(out[i]), x + 100 * y + 10000 * z + 1000000 * b) << "width " << width << ", element " << i;
      }
    }
}

TEST(Lanes, Atomics) {
  LanesProgram program(R"(__global__ void k(const int* in, int* counts, int* total, int* order, float* most) {
    __shared__ int mine[16], next;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    atomicAdd(&mine[in[i] % 16], 1);
    order[i] = atomicAdd(&next, 1);
    atomicAdd(total, in[i]);
    int* bits = (int*)most; int old = *bits, seen;
    do { seen = old; if (__builtin_bit_cast(float, seen) >= in[i] * 0.5f) break;
         old = atomicCAS(bits, seen, __builtin_bit_cast(int, in[i] * 0.5f)); } while (old != seen);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]); })");
  for (const int width : {8, 16, 32, 0})
    for (const uint32_t block : {31u, 96u, 256u}) {
      const Ints in = random_ints(block * 3, 100);
      Ints counts(16, 0), order(block * 3, kPoison), expected(16, 0);
      int total = 5;
      float most = -1;
      program.run("k", {3}, {block}, width, in.data(), counts.data(), &total, order.data(), &most);
      int sum = 5;
      for (const int x : in) ++expected[size_t(x % 16)], sum += x;
      if (block >= 16) {
        EXPECT_EQ(counts, expected);
      }
      EXPECT_EQ(total, sum);
      EXPECT_EQ(most, float(*std::max_element(in.begin(), in.end())) * 0.5f);
      for (uint32_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], int(i % block)) << "lanes are not ascending";
    }
}

TEST(Lanes, PrintsInOrderOfThreads) {
  LanesProgram program(R"(#include <cstdio>
__global__ void k(const int* in) { if (in[threadIdx.x] > 1) printf("got %d\n", in[threadIdx.x]); })");
  const Ints in = {5, 0, 7, 1, 2};
  take_printed();
  program.run("k", {1}, {5}, 8, in.data());
  EXPECT_EQ(take_printed(), "0: got 5\n2: got 7\n4: got 2\n");
}

TEST(Lanes, RefusesWhatItCannotRun) {
  EXPECT_NE(LanesProgram("__global__ void k(volatile int* f) { while (*f == 0) {} }").refusal("k", {32}).find("wait"),
            std::string::npos);
  EXPECT_NE(LanesProgram("__device__ __noinline__ int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n"
                         "__global__ void k(int* x) { x[threadIdx.x] = f(x[threadIdx.x]); }")
                .refusal("k", {32})
                .find("recursion"),
            std::string::npos);
  EXPECT_NE(
      LanesProgram("__global__ void k(int* x) { if (x[threadIdx.x]) __syncthreads(); x[0] = 1; __syncthreads(); }")
          .refusal("k", {64})
          .find("barrier"),
      std::string::npos);
}

}  // namespace
}  // namespace trine::simt
