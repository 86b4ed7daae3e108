// What C++ allows in kernels, and atomics.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "kernel_case.h"

namespace trine::compute {
namespace {

#define TRINE_HEAD                                        \
  "__global__ void k(const int* in, int* out, int n) {\n" \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;\n"

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (size_t i = 0; i < static_cast<size_t>(shape.all()); ++i) out[i] = body(in[i], static_cast<int>(i));
}

// Numbers of Fibonacci, and a recursion `most` deep at most that keeps the address of a local variable of each level.
#define TRINE_RECURSION(most)                                                                                  \
  "__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"                                \
  "__device__ __noinline__ int depth(int n, int* leaf) { int here = n; if (n == 0) { *leaf = 1; return 0; }\n" \
  "return depth(n - 1, &here) + here; }\n" TRINE_HEAD "int leaf; out[i] = fib(t % 12) + depth(t % " #most      \
  ", &leaf); }"

template <int kMost>
void recursion(const Shape& shape, const Ints& in, Ints& out) {
  each(shape, in, out, [&](int, int i) {
    const int t = i % shape.threads(), d = t % kMost;
    int a = 0, b = 1;
    for (int j = 0; j < t % 12; ++j) a = std::exchange(b, a + b);
    return a + d * (d + 1) / 2;
  });
}

const KernelCase kCases[] = {
    // GPUs give a thread 1 KiB of stack where nothing else is asked for.
    {"deep recursion", TRINE_RECURSION(300), &kShapes, recursion<300>, 0, false, "cpu"},
    {"recursion", TRINE_RECURSION(12), &kShapes, recursion<12>},
    {"recursion through a barrier", R"(
       __shared__ int s[1024];
       __device__ __noinline__ int walk(int t, int size, int v, int left) {
         s[t] = v; __syncthreads(); int other = s[(t + 1) % size]; __syncthreads();
         return left == 0 ? other : walk(t, size, other, left - 1); }
     )" TRINE_HEAD "out[i] = walk(t, size, in[i], 4); }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const int size = shape.threads();
         return in[static_cast<size_t>(i / size * size + (i % size + 5) % size)];
       });
     }},
    {"function pointers", R"(
       __device__ int twice(int v) { return 2 * v; }
       __device__ int negated(int v) { return -v; }
       __device__ int same(int v) { return v; }
       typedef int (*Function)(int);
       __device__ Function table[3] = {twice, negated, same};
     )" TRINE_HEAD "Function f = t % 2 ? table[t % 3] : (in[i] > 0 ? twice : negated); out[i] = f(in[i]); }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) {
         const int t = i % shape.threads(), which = t % 2 ? t % 3 : v > 0 ? 0 : 1;
         return which == 0 ? 2 * v : which == 1 ? -v : v;
       });
     }},
    {"virtual functions", R"(
       struct Shape { __device__ virtual int area(int v) const = 0; __device__ virtual ~Shape() {} };
       struct Square : Shape { __device__ int area(int v) const override { return v * v; } };
       struct Line : Shape { int width; __device__ Line(int w) : width(w) {} __device__ int area(int v) const override { return v * width; } };
       __device__ __noinline__ int ask(const Shape& shape, int v) { return shape.area(v); }
     )" TRINE_HEAD R"(
       Square square; Line line(3); const Shape* pick = t % 2 ? (const Shape*)&square : &line; out[i] = ask(*pick, in[i]);
       Shape* made = new Line(t); out[i] += ask(*made, 2); delete made; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) {
         const int t = i % shape.threads();
         return (t % 2 ? v * v : 3 * v) + 2 * t;
       });
     }},
    {"templates and lambdas", R"(
       template <int N, class F> __device__ int repeat(F f, int v) { if constexpr (N == 0) return v; else return repeat<N - 1>(f, f(v)); }
       template <class T> struct Pair { T a, b; __device__ T sum() const { return a + b; } };
     )" TRINE_HEAD R"(
       int add = t + 1; auto f = [=](int v) { return v + add; }; auto g = [&add](int v) { add += v; return add; };
       Pair<double> pair{0.5 * in[i], 0.5 * in[i]};
       out[i] = repeat<5>(f, in[i]) + (int)pair.sum() + g(2) + add; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) {
         const int add = i % shape.threads() + 1;
         return v + 5 * add + v + 2 * (add + 2);
       });
     }},
    {"switch, goto, break, continue", TRINE_HEAD R"(
       int v = in[i], sum = 0;
       for (int j = 0; j < 20; ++j) { if (j == t % 7) continue; if (j > 10 + t % 5) break; sum += j; }
       switch (v & 3) { case 0: sum += 1; break; case 1: sum += 10; [[fallthrough]]; case 2: sum += 100; break; default: goto end; }
       sum *= 2;
     end: out[i] = sum; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) {
         const int t = i % shape.threads();
         int sum = 0;
         for (int j = 0; j <= 10 + t % 5; ++j) sum += j == t % 7 ? 0 : j;
         const int kind = v & 3;
         return kind == 3 ? sum : 2 * (sum + (kind == 0 ? 1 : kind == 1 ? 110 : 100));
       });
     }},
    {"local arrays with an index that differs", TRINE_HEAD R"(
       int a[16]; for (int j = 0; j < 16; ++j) a[j] = in[i] + j * t; out[i] = a[(in[i] & 1023) % 16] + a[t % 16]; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) {
         const int t = i % shape.threads();
         return v + (v & 1023) % 16 * t + v + t % 16 * t;
       });
     }},
    {"loops of lengths that differ", TRINE_HEAD R"(
       unsigned x = in[i] + 2000; int steps = 0; while (x != 1) { x = x % 2 ? 3 * x + 1 : x / 2; ++steps; } out[i] = steps; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int) {
         uint32_t x = static_cast<uint32_t>(v + 2000);
         int steps = 0;
         for (; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
         return steps;
       });
     }},
    {"early exits", TRINE_HEAD "out[i] = 1; if (in[i] < 0) return; out[i] = 2; if (t > 40) return; out[i] = 3; }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) { return v < 0 ? 1 : i % shape.threads() > 40 ? 2 : 3; });
     }},
    {"integers and floats of every width", TRINE_HEAD R"(
       signed char c = (signed char)in[i]; unsigned short s = (unsigned short)in[i]; long long l = (long long)in[i] * 1000003;
       unsigned long long u = (unsigned long long)l >> 7; float f = in[i] * 0.25f; double d = in[i] / 8.0; bool b = in[i] & 1;
       out[i] = c + s + (int)(l % 1009) + (int)(u & 255) + (int)f + (int)d + b + (in[i] ? 1000 / in[i] : 0) + (in[i] >> 2); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int) {
         const long long l = static_cast<long long>(v) * 1000003;
         return static_cast<signed char>(v) + static_cast<uint16_t>(v) + static_cast<int>(l % 1009) +
                static_cast<int>(static_cast<unsigned long long>(l) >> 7 & 255) + static_cast<int>(v * 0.25f) +
                static_cast<int>(v / 8.0) + (v & 1) + (v ? 1000 / v : 0) + (v >> 2);
       });
     }},
    {"bits", TRINE_HEAD R"(
       unsigned v = in[i]; out[i] = __popc(v) + __clz(v) * 3 + __ffs(v) * 5 + (__brev(v) >> 20) + __byte_perm(v, i, 0x1234) % 97 + __mulhi(in[i] * 4096, in[i] * 4096); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int value, int i) {
         const auto v = static_cast<uint32_t>(value);
         uint32_t turned = 0;
         for (int b = 0; b < 32; ++b) turned |= (v >> b & 1) << (31 - b);
         const uint64_t both = uint64_t{static_cast<uint32_t>(i)} << 32 | v;
         const auto byte = [&](int b) { return static_cast<uint32_t>(both >> 8 * b & 255); };
         const uint32_t mixed = byte(4) | byte(3) << 8 | byte(2) << 16 | byte(1) << 24;
         const long long product = static_cast<long long>(value * 4096) * (value * 4096);
         return __builtin_popcount(v) + (v ? __builtin_clz(v) : 32) * 3 + __builtin_ffs(value) * 5 +
                static_cast<int>(turned >> 20) + static_cast<int>(mixed % 97) + static_cast<int>(product >> 32);
       });
     }},
    {"constants and variables of the device", R"(
       __constant__ int primes[5] = {2, 3, 5, 7, 11};
       __device__ const float half = 0.5f;
       __device__ int offset = 40;
       static __device__ int hidden = 2;
       namespace deep { __device__ long long wide = 1LL << 33; }
     )" TRINE_HEAD "out[i] = primes[t % 5] + (int)(half * 8) + offset + hidden + (int)(deep::wide >> 30); }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       static constexpr int kPrimes[] = {2, 3, 5, 7, 11};
       each(shape, in, out, [&](int, int i) { return kPrimes[i % shape.threads() % 5] + 4 + 40 + 2 + 8; });
     }},
    {"atomics on shared memory", TRINE_HEAD R"(
       __shared__ int sum, least, most, bits; __shared__ unsigned turns; __shared__ unsigned long long wide; __shared__ float f;
       if (t == 0) { sum = 0; least = 9999; most = -9999; bits = 0; turns = 0; wide = 0; f = 0; } __syncthreads();
       atomicAdd(&sum, in[i]); atomicMin(&least, in[i]); atomicMax(&most, in[i]); atomicXor(&bits, in[i]);
       atomicInc(&turns, 6); atomicAdd(&wide, 1ull << 33); atomicAdd(&f, 0.5f); __syncthreads();
       out[i] = sum + least * 3 + most * 5 + bits * 7 + turns * 11 + (int)(wide >> 33) * 13 + (int)(f * 2) * 17; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       const int t = shape.threads();
       each(shape, in, out, [&](int, int i) {
         const int* x = in.data() + i / t * t;
         int sum = 0, bits = 0;
         for (int j = 0; j < t; ++j) {
           sum += x[j];
           bits ^= x[j];
         }
         return sum + *std::min_element(x, x + t) * 3 + *std::max_element(x, x + t) * 5 + bits * 7 + t % 7 * 11 +
                t * 13 + t * 17;
       });
     }},
    {"atomics on global memory return what was there", R"(
       __device__ unsigned taken = 0, done = 0;
       __device__ double total = 0;
     )" TRINE_HEAD R"(
       unsigned place = atomicAdd(&taken, 1); out[place] = 1; atomicAdd(&total, 1.0); __threadfence();
       if (atomicAdd(&done, 1) == n - 1) { out[n - 1] = (int)total; taken = 0; done = 0; total = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) { return i == shape.all() - 1 ? shape.all() : 1; });
     }},
    {"compare and swap", R"(
       __device__ int best = -5000; __device__ unsigned done = 0;
     )" TRINE_HEAD R"(
       int seen = best; while (seen < in[i]) { int before = atomicCAS(&best, seen, in[i]); if (before == seen) break; seen = before; }
       out[i] = 0; __threadfence();
       if (atomicAdd(&done, 1) == n - 1) { out[n - 1] = best; best = -5000; done = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out,
            [&](int, int i) { return i == shape.all() - 1 ? *std::max_element(in.begin(), in.end()) : 0; });
     }},
    {"memory of the device", TRINE_HEAD R"(
       __shared__ int* list; if (t == 0) list = new int[size]; __syncthreads();
       list[t] = in[i]; __syncthreads(); out[i] = list[size - 1 - t]; __syncthreads(); if (t == 0) delete[] list;
       int* own = (int*)malloc(64); own[3] = t; out[i] += own[3]; free(own); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       const int t = shape.threads();
       each(shape, in, out, [&](int, int i) { return in[static_cast<size_t>(i / t * t + t - 1 - i % t)] + i % t; });
     }},
    {"bits of one type read as another", TRINE_HEAD R"(
       float* x = (float*)(out + i); int* y = out + i + (in[i] > 5000); *x = 2.0f; *y = 0x40800000; out[i] = (int)*x; })",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, [](int, int) { return 4; }); }},
    {"address spaces", R"(
       __device__ int global_one; __constant__ int constant_one = 1;
     )" TRINE_HEAD R"(
       __shared__ int s; int local = t; s = 0; __syncthreads();
       out[i] = __isShared(&s) * 8 + __isShared(&local) * 4 + (__isLocal(&local) != 0) * 2 + (__isGlobal(out) != 0) + __isShared(in) * 16 + local * 0; })",
     &kSmallShapes,
     [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, [](int, int) { return 11; }); }},
};

TEST(Kernels, Language) { run_cases(kCases); }

const KernelCase kGridCases[] = {
    {"grid sync", "#include <cooperative_groups.h>\n" TRINE_HEAD R"(
       auto grid = cooperative_groups::this_grid();
       out[i] = in[i]; grid.sync();
       for (int round = 0; round < 3; ++round) { int v = out[n - 1 - i]; grid.sync(); out[i] = v + 1; grid.sync(); } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) { return in[static_cast<size_t>(shape.all() - 1 - i)] + 3; });
     },
     0, true},
    {"threads that have exited do not hold up the grid", "#include <cooperative_groups.h>\n" TRINE_HEAD R"(
       out[i] = in[i]; if (i % 3 == 1) return;
       cooperative_groups::this_grid().sync(); int v = out[(i + 3) % n]; cooperative_groups::this_grid().sync(); out[i] = v; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out,
            [&](int v, int i) { return i % 3 == 1 ? v : in[static_cast<size_t>((i + 3) % shape.all())]; });
     },
     0, true, "cpu"},
    {"all blocks are there at once", R"(
       __device__ unsigned arrived = 0, left = 0;
       __device__ void meet() {
         __syncthreads();
         if (threadIdx.x == 0) { __threadfence(); atomicAdd(&arrived, 1); while (atomicAdd(&arrived, 0) < gridDim.x) ; __threadfence(); }
         __syncthreads(); }
     )" TRINE_HEAD R"(
       out[i] = in[i] * 2; meet(); int v = out[n - 1 - i];
       if (t == 0 && atomicAdd(&left, 1) == gridDim.x - 1) { arrived = 0; left = 0; }
       if (v == 123456789) out[i] = v; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, [](int v, int) { return 2 * v; }); }, 0,
     true},
};

const KernelCase kGroupCases[] = {
    {"tiles reduce", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n" TRINE_HEAD R"(
       auto tile = cg::tiled_partition<8>(cg::this_thread_block()); int v = in[i];
       for (int d = 4; d; d /= 2) v += tile.shfl_xor(v, d); out[i] = v + tile.thread_rank(); })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         int sum = i % 8;
         for (int j = 0; j < 8; ++j) sum += in[static_cast<size_t>(i / 8 * 8 + j)];
         return sum;
       });
     }},
    {"coalesced threads count themselves",
     "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n" TRINE_HEAD R"(
       out[i] = -1; if (t % 3 == 0) { auto group = cg::coalesced_threads(); out[i] = group.size() * 100 + group.thread_rank(); } })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const int t = i % shape.threads(), first = t / 32 * 32;
         int size = 0, rank = 0;
         for (int j = first; j < first + 32; ++j) {
           size += j % 3 == 0;
           rank += j % 3 == 0 && j < t;
         }
         return t % 3 ? -1 : size * 100 + rank;
       });
     }},
};

TEST(Kernels, Groups) { run_cases(kGroupCases); }

TEST(Kernels, Cooperative) { run_cases(kGridCases); }

}  // namespace
}  // namespace trine::compute
