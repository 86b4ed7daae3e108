// More of what C++ and CUDA allow: control flow that differs between threads, classes, words that mark things.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"

namespace trine::compute {
namespace {

#define TRINE_BODY                                                                       \
  "const int size = blockDim.x * blockDim.y * blockDim.z;\n"                             \
  "const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n" \
  "const int i = (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * size + t;\n"
#define TRINE_HEAD "__global__ void k(const int* in, int* out, int n) {\n" TRINE_BODY

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (int i = 0; i < shape.all(); ++i)
    out[static_cast<size_t>(i)] = body(in[static_cast<size_t>(i)], i % shape.threads());
}

int nested(int v, int t) {
  int sum = 0;
  for (int a = 0; a < 5 + t % 3; ++a) {
    if ((v + a) % 7 == 0) continue;
    for (int b = 0; b < 9; ++b) {
      if ((v ^ b) % 5 == 0) break;
      if (b == t % 11) continue;
      if (sum > 60 + t) return sum - v;
      sum += a * b + 1;
    }
    if ((v & 15) == a) return -sum;
  }
  return sum;
}

int turns(int v, int t) {
  int at = v & 3, steps = 0;
  for (; steps < 40; ++steps) {
    switch (at) {
      case 0: at = (v >> steps % 16) & 3; continue;
      case 1: ++steps; [[fallthrough]];
      case 2: at = (at + t + steps) & 3; break;
      default:
        if (steps > 20 + t % 5) return steps * 100 + at;
        at = steps & 1;
    }
    if (at == 3 && (t & 1)) break;
  }
  return steps;
}

int two_doors(int v, int t) {  // a loop with two entries
  int sum = 0, left = t % 9 + 2;
  if (v & 1) goto middle;
top:
  sum += 3;
middle:
  sum = sum * 2 + 1;
  if (--left > 0) goto top;
  return sum;
}

const KernelCase kCases[] = {
    {"nested loops with break, continue and return", R"(
       __device__ int nested(int v, int t) {
         int sum = 0;
         for (int a = 0; a < 5 + t % 3; ++a) {
           if ((v + a) % 7 == 0) continue;
           for (int b = 0; b < 9; ++b) {
             if ((v ^ b) % 5 == 0) break;
             if (b == t % 11) continue;
             if (sum > 60 + t) return sum - v;
             sum += a * b + 1;
           }
           if ((v & 15) == a) return -sum;
         }
         return sum; }
     )" TRINE_HEAD "out[i] = nested(in[i], t); }",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, nested); }},
    {"a switch in a loop, left in every way", R"(
       __device__ int turns(int v, int t) {
         int at = v & 3, steps = 0;
         for (; steps < 40; ++steps) {
           switch (at) {
             case 0: at = (v >> steps % 16) & 3; continue;
             case 1: ++steps; [[fallthrough]];
             case 2: at = (at + t + steps) & 3; break;
             default: if (steps > 20 + t % 5) return steps * 100 + at; at = steps & 1;
           }
           if (at == 3 && (t & 1)) break;
         }
         return steps; }
     )" TRINE_HEAD "out[i] = turns(in[i], t); }",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, turns); }},
    {"goto into a loop", R"(
       __device__ int two_doors(int v, int t) {
         int sum = 0, left = t % 9 + 2;
         if (v & 1) goto middle;
       top:
         sum += 3;
       middle:
         sum = sum * 2 + 1;
         if (--left > 0) goto top;
         return sum; }
     )" TRINE_HEAD "out[i] = two_doors(in[i], t); }",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, two_doors); }},
    {"exits in loops before barriers", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; out[i] = -1;
       for (int j = 0; j < 4; ++j) {
         if (t % 8 == j && t != 0) { out[i] = j; return; }
         __syncthreads();
       }
       if (t == 0 || t % 8 >= 4) out[i] = 100 + s[t] % 7; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) { return t && t % 8 < 4 ? t % 8 : 100 + v % 7; });
     }},
    {"conditions with effects", TRINE_HEAD R"(
       int a = 0, b = 0; const int v = in[i];
       if ((++a, v > 0) && (++b, v % 3 == 0) || (a += 10, t % 2)) b += 100;
       a += v < 0 ? (b += 7, 1) : t % 3 ? (b -= 2, 2) : 3;
       do { a += b & 1; } while (a++ < t % 6);
       out[i] = a * 1000 + b; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) {
         int a = 1, b = 0;
         bool yes = false;
         if (v > 0) {
           ++b;
           yes = v % 3 == 0;
         }
         if (!yes) {
           a += 10;
           yes = t % 2;
         }
         if (yes) b += 100;
         if (v < 0) b += 7, a += 1;
         else if (t % 3) b -= 2, a += 2;
         else a += 3;
         do a += b & 1;
         while (a++ < t % 6);
         return a * 1000 + b;
       });
     }},
    {"barriers that count, and, or, in a loop of dependent length", TRINE_HEAD R"(
       int rounds = 0, left = t % 5;
       while (__syncthreads_or(left > 0)) { rounds += 10 + __syncthreads_count(left > 0) % 2 * 0 + __syncthreads_and(left >= 0); --left; if (left < 0) left = 0; }
       out[i] = rounds; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int) { return 11 * std::min(4, shape.threads() - 1); });
     }},
    {"classes: bases, members by template, operators, unions, fields of bits", R"(
       template <class T, int N> class Stack {
        public:
         __device__ void push(T v) { data_[count_++ % N] = v; }
         __device__ T pop() { return data_[--count_ % N]; }
         __device__ int count() const { return count_; }
        private:
         T data_[N]; int count_ = 0;
       };
       struct A { int a; __device__ A(int v) : a(v) {} __device__ int get() const { return a; } };
       struct B { int b; __device__ B(int v) : b(v) {} __device__ int twice() const { return 2 * b; } };
       struct C : A, B { __device__ C(int v) : A(v), B(v + 1) {} __device__ friend C operator+(C x, C y) { return C(x.a + y.b); } };
       struct Bits { unsigned low : 5, mid : 9; int rest : 18; };
       union Word { int i; float f; unsigned char c[4]; };
       struct Guard { int& v; __device__ Guard(int& r) : v(r) { v += 1; } __device__ ~Guard() { v *= 2; } };
     )" TRINE_HEAD R"(
       Stack<int, 8> stack; for (int j = 0; j <= t % 8; ++j) stack.push(in[i] + j);
       int sum = stack.pop() + stack.count();
       C c = C(t) + C(3); sum += c.get() + c.twice();
       Bits bits{}; bits.low = t; bits.mid = t * 3; bits.rest = -t; sum += bits.low + bits.mid + bits.rest;
       Word w; w.f = 1.0f + (t & 3); sum += w.c[3] + (w.i >> 23);
       { Guard guard(sum); if (t % 3 == 0) sum += 5; }
       out[i] = sum; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) {
         int sum = v + t % 8 + t % 8;
         const int c = t + 4;
         sum += c + 2 * (c + 1);
         sum += (t & 31) + (t * 3 & 511) - t;
         const int exponent = (t & 3) == 0 ? 127 : (t & 3) == 3 ? 129 : 128;
         sum += 0x3f + (exponent > 127) + exponent;
         return 2 * (sum + 1 + (t % 3 == 0 ? 5 : 0));
       });
     }},
    {"variadic templates, folds, concepts, structured bindings, lambdas of templates", R"(
       template <class T> concept Number = requires(T a) { a + a; a * 2; };
       template <Number... T> __device__ auto total(T... v) { return (v + ... + 0); }
       struct Two { int first; long long second; };
       __device__ Two split(int v) { return {v % 100, v / 100}; }
       constexpr int power(int b, int e) { int r = 1; while (e--) r *= b; return r; }
     )" TRINE_HEAD R"(
       auto [low, high] = split(in[i]);
       auto apply = []<class F>(F f, auto... v) { return f(v...); };
       constexpr int table[] = {power(3, 0), power(3, 1), power(3, 2), power(3, 3)};
       out[i] = total(low, (int)high, t) + apply([&](int a, int b) { return a * b + table[t % 4]; }, t, 3); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) {
         const int table[] = {1, 3, 9, 27};
         return v % 100 + v / 100 + t + 3 * t + table[t % 4];
       });
     }},
    {"launch bounds, managed and constant variables, structs of constants",
     R"(
       struct Table { int add; int scale[3]; };
       __constant__ Table table = {5, {2, 3, 4}};
       __managed__ int managed = 17;
       __device__ const int fixed[4] = {1, 2, 3, 4};
       __global__ void __launch_bounds__(1024, 1) k(const int* __restrict__ in, int* __restrict__ out, const int n) {)" TRINE_BODY
     R"(
       out[i] = __ldg(in + i) * table.scale[t % 3] + table.add + managed + fixed[t & 3]; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) { return v * (2 + t % 3) + 5 + 17 + 1 + (t & 3); });
     }},
    {"virtual functions that meet at barriers", R"(
       __shared__ int s[1024];
       struct Step { __device__ virtual int run(int t, int size, int v) = 0; };
       struct Forward : Step { __device__ int run(int t, int size, int v) override { s[t] = v; __syncthreads(); int r = s[(t + 1) % size]; __syncthreads(); return r; } };
       struct Add : Step { int by; __device__ int run(int t, int size, int v) override { __syncthreads(); __syncthreads(); return v + by; } };
     )" TRINE_HEAD R"(
       Forward forward; Add add; add.by = 3; Step* steps[] = {&forward, &add};
       int v = in[i]; for (int j = 0; j < 4; ++j) v = steps[(j + n) % 2]->run(t, size, v);
       out[i] = v; })",
     &kSmallShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       const int size = shape.threads();
       for (int i = 0; i < shape.all(); ++i)
         out[static_cast<size_t>(i)] = in[static_cast<size_t>(i / size * size + (i % size + 2) % size)] + 6;
     }},
    {"objects with virtual functions that this kernel makes and does not call", R"(
       struct Base { int v; __device__ virtual int get() const { return v; } __device__ virtual ~Base() {} };
       struct Derived : Base { __device__ int get() const override { return 2 * v; } };
       __device__ Base* made[1024];
     )" TRINE_HEAD R"(
       const int at = i % 1024; if (i < 1024) { made[at] = t % 2 ? new Derived : new Base; made[at]->v = in[i]; }
       Derived direct; direct.v = t; out[i] = direct.get() + (i < 1024 ? made[at]->v : in[i]);
       if (i < 1024) free(made[at]); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int t) { return 2 * t + v; });
     }},
    {"indices of two and three dimensions", TRINE_HEAD R"(
       const uint3 b = blockIdx; const dim3 g = gridDim, d = blockDim; const uint3 who = threadIdx;
       out[i] = ((who.z * d.y + who.y) * d.x + who.x) + 2000 * ((b.z * g.y + b.y) * g.x + b.x) + (n == (int)(g.x * g.y * g.z * d.x * d.y * d.z) ? 0 : -1); })",
     &kSpaceShapes,
     [](const Shape& shape, const Ints&, Ints& out) {
       for (int i = 0; i < shape.all(); ++i)
         out[static_cast<size_t>(i)] = i % shape.threads() + 2000 * (i / shape.threads());
     }},
};

TEST(Kernels, Constructs) { run_cases(kCases); }

// Each block of grids that are large in one direction counts itself.
TEST(Kernels, LargeGrids) {
  const char* source = R"(
      __global__ void k(unsigned* blocks, unsigned long long* sum) {
        if (threadIdx.x == 0) {
          atomicAdd(blocks, 1u);
          atomicAdd(sum, (unsigned long long)blockIdx.x + 3ull * blockIdx.y + 7ull * blockIdx.z);
        }
      })";
  struct Result {
    uint64_t sum;
    uint32_t blocks, unused;
  };
  for (const Target& target : targets()) {
    SCOPED_TRACE(text_of(target));
    const Device device = Device::open(target.device);
    Stream stream = device.create_stream();
    const Module module = Module::compile(device, source, {.mode = target.mode});
    for (const Dim3& grid : {Dim3{200'000, 1, 1}, Dim3{1, 65'535, 1}, Dim3{2, 1, 65'535}}) {
      const Buffer result = device.allocate(sizeof(Result));
      stream.fill(result, 0);
      auto* at = static_cast<Result*>(result.data());
      module.kernel("k").launch(stream, {grid, {33}}, &at->blocks, &at->sum);
      Result got{};
      stream.download(&got, result, 0, sizeof got);
      stream.synchronize();
      const auto mean = [](uint64_t n) { return n * (n - 1) / 2; };
      const uint64_t x = grid.x, y = grid.y, z = grid.z;
      EXPECT_EQ(got.blocks, grid.volume());
      EXPECT_EQ(got.sum, mean(x) * y * z + 3 * mean(y) * x * z + 7 * mean(z) * x * y);
    }
  }
}

}  // namespace
}  // namespace trine::compute
