// Barriers and shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernel_case.h"

namespace trine::compute {
namespace {

// out of a block is what `body(in of the block, out of the block, threads)` makes.
template <class Body>
void for_blocks(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  const int t = shape.threads();
  for (int b = 0; b < shape.blocks(); ++b) body(in.data() + b * t, out.data() + b * t, t);
}

void reversed(const Shape& shape, const Ints& in, Ints& out) {
  for_blocks(shape, in, out, [](const int* x, int* y, int t) { std::reverse_copy(x, x + t, y); });
}
void summed(const Shape& shape, const Ints& in, Ints& out) {
  for_blocks(shape, in, out, [](const int* x, int* y, int t) { std::fill(y, y + t, std::accumulate(x, x + t, 0)); });
}
void scanned(const Shape& shape, const Ints& in, Ints& out) {
  for_blocks(shape, in, out, [](const int* x, int* y, int t) { std::partial_sum(x, x + t, y); });
}

#define TRINE_HEAD                                        \
  "__global__ void k(const int* in, int* out, int n) {\n" \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;\n"

const KernelCase kCases[] = {
    {"static shared memory", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; __syncthreads(); out[i] = s[size - 1 - t]; })",
     &kShapes, reversed},
    {"dynamic shared memory", "extern __shared__ int s[];\n" TRINE_HEAD R"(
       s[t] = in[i]; __syncthreads(); out[i] = s[size - 1 - t]; })",
     &kShapes, reversed, 4},
    {"static and dynamic, of several types", "extern __shared__ double d[];\n" TRINE_HEAD R"(
       __shared__ char c[3]; __shared__ long long w[2]; __shared__ short h;
       if (t == 0) { c[0] = 1; c[1] = 2; c[2] = 3; w[0] = 1LL << 40; w[1] = -1; h = 7; }
       d[t] = in[i]; __syncthreads();
       bool kept = c[0] == 1 && c[1] == 2 && c[2] == 3 && w[0] == 1LL << 40 && w[1] == -1 && h == 7;
       out[i] = kept ? (int)d[size - 1 - t] : -1; })",
     &kShapes, reversed, 8},
    {"tree reduction: barrier in a loop", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; __syncthreads();
       int width = 1; while (width < size) width *= 2;
       for (int half = width / 2; half > 0; half /= 2) {
         if (t < half && t + half < size) s[t] += s[t + half];
         __syncthreads();
       }
       out[i] = s[0]; })",
     &kShapes, summed},
    {"scan: two barriers in a loop", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; __syncthreads();
       for (int step = 1; step < size; step *= 2) {
         int before = t >= step ? s[t - step] : 0;
         __syncthreads();
         s[t] += before;
         __syncthreads();
       }
       out[i] = s[t]; })",
     &kShapes, scanned},
    {"barrier in a uniform conditional", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i];
       if (size > 40) { __syncthreads(); out[i] = s[size - 1 - t]; }
       else { s[t] += 1; __syncthreads(); out[i] = s[size - 1 - t] - 1; } })",
     &kShapes, reversed},
    {"barrier in a nested loop with a bound from memory", TRINE_HEAD R"(
       __shared__ int s[1024], rounds;
       s[t] = in[i]; if (t == 0) rounds = 3; __syncthreads();
       for (int a = 0; a < rounds; ++a)
         for (int b = 0; b <= a; ++b) { int v = s[size - 1 - t]; __syncthreads(); s[t] = v; __syncthreads(); }
       out[i] = s[size - 1 - t]; })",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { reversed(shape, in, out); }},
    {"barrier in a function that is not inlined", R"(
       __shared__ int s[1024];
       __device__ __noinline__ int swap(int t, int v, int size) { s[t] = v; __syncthreads(); return s[size - 1 - t]; }
     )" TRINE_HEAD "out[i] = swap(t, in[i], size); }",
     &kShapes, reversed},
    {"barriers that count, and, or", TRINE_HEAD R"(
       int count = __syncthreads_count(in[i] > 0), all = __syncthreads_and(in[i] > -2000), any = __syncthreads_or(in[i] == 5000);
       int none = __syncthreads_and(t != 0), one = __syncthreads_or(t == size - 1);
       out[i] = count * 16 + all * 8 + any * 4 + none * 2 + one; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_blocks(shape, in, out, [](const int* x, int* y, int t) {
         const auto count = static_cast<int>(std::count_if(x, x + t, [](int v) { return v > 0; }));
         std::fill(y, y + t, count * 16 + 8 + 1);
       });
     }},
    {"threads that have exited are not waited for", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; out[i] = in[i];
       if (t % 3 == 1) return;
       __syncthreads();
       out[i] = s[t] * 2;
       if (t % 3 == 2) return;
       __syncthreads();
       out[i] = s[t / 3 * 3] * 3; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_blocks(shape, in, out, [](const int* x, int* y, int t) {
         for (int j = 0; j < t; ++j) y[j] = x[j] * (j % 3 == 0 ? 3 : j % 3 == 1 ? 1 : 2);
       });
     }},
    {"named barriers of some warps", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i];
       int half = size / 2;
       if (size % 64) { __syncthreads(); out[i] = s[size - 1 - t]; return; }
       __barrier_sync_count(t < half ? 1 : 2, half);
       int base = t < half ? 0 : half, within = s[base + half - 1 - (t - base)];
       __barrier_sync(3);
       s[t] = within; __syncthreads();
       out[i] = s[(t + half) % size]; })",
     &kShapes, reversed},
    {"a named barrier with the last warp, which lacks lanes", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; out[i] = in[i];
       if (size != 33) { __syncthreads(); out[i] = s[size - 1 - t]; return; }
       __barrier_sync_count(1, 64); out[i] = s[size - 1 - t]; })",
     &kShapes, reversed},
    {"a spin lock between threads of a block", TRINE_HEAD R"(
       __shared__ int lock, total;
       if (t == 0) { lock = 0; total = 0; } __syncthreads();
       for (bool done = false; !done;)
         if (atomicCAS(&lock, 0, 1) == 0) { total += in[i]; __threadfence_block(); atomicExch(&lock, 0); done = true; }
       __syncthreads();
       out[i] = total; })",
     &kSmallShapes, summed},
    {"a flag that one thread waits for", TRINE_HEAD R"(
       __shared__ volatile int flag; __shared__ int value;
       if (t == 0) flag = 0; __syncthreads();
       if (t == size - 1) { value = in[i - t]; __threadfence_block(); flag = 1; }
       else while (flag == 0) ;
       __syncthreads();
       out[i] = value; })",
     &kSmallShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_blocks(shape, in, out, [](const int* x, int* y, int t) { std::fill(y, y + t, x[0]); });
     }},
    {"2D and 3D blocks", R"(
       __global__ void k(const int* in, int* out, int n) {
         __shared__ int s[1024];
         int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
         int size = blockDim.x * blockDim.y * blockDim.z;
         int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
         s[t] = in[b * size + t]; __syncthreads(); out[b * size + t] = s[size - 1 - t]; })",
     &kSpaceShapes, reversed},
    {"a later block waits for an earlier one", R"(
       __device__ volatile int done = 0;
       __global__ void k(const int* in, int* out, int n) {
         int i = blockIdx.x * blockDim.x + threadIdx.x;
         if (threadIdx.x == 0) while (done != blockIdx.x) ;
         __syncthreads();
         out[i] = in[i] + blockIdx.x;
         __threadfence(); __syncthreads();
         if (threadIdx.x == 0) done = (done + 1) % gridDim.x; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for (int i = 0; i < shape.all(); ++i) out[i] = in[i] + i / shape.threads();
     }},
    {"a lock that one thread of each block takes", R"(
       __device__ int lock = 0, inside = 0;
       __global__ void k(const int* in, int* out, int n) {
         __shared__ int seen;
         int i = blockIdx.x * blockDim.x + threadIdx.x;
         if (threadIdx.x == 0) {
           while (atomicCAS(&lock, 0, 1) != 0) ;
           __threadfence();
           seen = inside++;
         }
         __syncthreads();
         out[i] = in[i] + seen;
         __syncthreads();
         if (threadIdx.x == 0) { --inside; __threadfence(); atomicExch(&lock, 0); } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for (int i = 0; i < shape.all(); ++i) out[i] = in[i];
     }},
};

TEST(Kernels, Barriers) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
