// Faults that users of similar systems have reported, rebuilt as small kernels. A row's name begins with the report.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"

namespace trine::compute {
namespace {

// Thread i of a grid of n. last() is true in one thread, after all others have called it.
#define TRINE_HEAD                                                                                      \
  "__device__ int arrived;\n"                                                                           \
  "__device__ bool last(int n) { __threadfence(); if (atomicAdd(&arrived, 1) != n - 1) return false;\n" \
  "  __threadfence(); arrived = 0; return true; }\n"                                                    \
  "__global__ void k(const int* in, int* out, int n) {\n"                                               \
  "const int size = blockDim.x * blockDim.y * blockDim.z;\n"                                            \
  "const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"                \
  "const int i = (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * size + t;\n"

// All of the grid's threads give `all`, the first gives `first`.
template <class First>
void all_but_first(Ints& out, int all, const First& first) {
  for (int& value : out) value = all;
  out[0] = first;
}

const KernelCase kCases[] = {
    {"LLVM 58626: a shared variable that all set, and one then sets again", TRINE_HEAD R"(
       __shared__ int v; v = 0; __syncthreads(); if (t == 0) v = 1234; __syncthreads();
       assert(v == 1234); out[i] = v; })",
     &kSpaceShapes, [](const Shape&, const Ints&, Ints& out) { all_but_first(out, 1234, 1234); }},
    {"LLVM 155682: the guard of an atomic before a shuffle, its value not set in other lanes",
     "__device__ int rows;\n" TRINE_HEAD R"(
       const int lane = t % 32; int row;
       if (lane == 0) row = atomicAdd(&rows, 16);
       row = __shfl_sync(~0u, row, 0) + lane;
       if (i) out[i] = (row - lane) % 16;
       if (last(n)) { out[0] = rows; rows = 0; } })",
     &kWarpShapes,
     [](const Shape& shape, const Ints&, Ints& out) {
       all_but_first(out, 0, 16 * shape.blocks() * ((shape.threads() + 31) / 32));
     }},
    {"hip 3213: shuffles of segments wrap", TRINE_HEAD R"(
       int lane = t % 32, sum = 0;
       for (int width = 1; width <= 32; width *= 2)
         for (int add = 0; add < 40; add += 4)
           sum = sum * 31 + __shfl_sync(~0u, lane, lane + add, width) + 100 * __shfl_sync(~0u, lane, lane - add, width);
       out[i] = 1000 * __shfl_sync(~0u, lane, lane + 4, 8) + (sum & 255); })",
     &kWarpShapes,
     [](const Shape& shape, const Ints&, Ints& out) {
       for (int i = 0; i < shape.all(); ++i) {
         const int lane = i % shape.threads() % 32;
         const auto from = [&](int source, int width) { return (lane & -width) + (source & (width - 1)); };
         uint32_t sum = 0;
         for (int width = 1; width <= 32; width *= 2)
           for (int add = 0; add < 40; add += 4)
             sum = sum * 31 + static_cast<uint32_t>(from(lane + add, width) + 100 * from(lane - add, width));
         out[static_cast<size_t>(i)] = 1000 * from(lane + 4, 8) + static_cast<int>(sum & 255);
       }
     }},
    {"pocl 553: barriers under conditions in nested loops", TRINE_HEAD R"(
       __shared__ int visits[1024][4];
       for (int c = 0; c < 4; ++c) visits[t][c] = 0;
       const int one = in[0] == in[0] ? 1 : 2;
       for (int c = 0; c < 4; ++c) {
         const int a1 = c & 1 ? one : -one, a2 = c & 2 ? 2 * one : -2 * one;
         for (int outer = 0; outer < 2; ++outer) {
           for (int inner = 0; inner < 2; ++inner) {
             ++visits[t][2 * outer + inner];
             if (a2 > a1) __syncthreads();
             if (a1 > 0) __syncthreads();
           }
           if (a2 > a1) __syncthreads();
           if (a1 > 0) __syncthreads();
         }
         __syncthreads();
       }
       const int* mine = visits[(t + 1) % size];
       out[i] = mine[0] + 10 * mine[1] + 100 * mine[2] + 1000 * mine[3]; })",
     &kShapes, [](const Shape&, const Ints&, Ints& out) { all_but_first(out, 4444, 4444); }},
    {"pocl 1977: what one thread does after a barrier", "__device__ int count;\n" TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; __syncthreads();
       if (i) out[i] = s[(t + 1) % size];
       if (t == 0) atomicAdd(&count, 1);
       if (last(n)) { out[0] = count; count = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       const int size = shape.threads();
       for (int i = 0; i < shape.all(); ++i)
         out[static_cast<size_t>(i)] = in[static_cast<size_t>(i / size * size + (i % size + 1) % size)];
       out[0] = shape.blocks();
     }},
    {"dgl 4031: sums of doubles are atomic", "__device__ double sum;\n" TRINE_HEAD R"(
       for (int j = 0; j < 1000; ++j) atomicAdd(&sum, 1.0);
       if (i) out[i] = 0;
       if (last(n)) { out[0] = (int)sum; sum = 0; } })",
     &kSmallShapes, [](const Shape& shape, const Ints&, Ints& out) { all_but_first(out, 0, 1000 * shape.all()); }},
    {"dgl 4031: sums of pairs of halves are atomic", "#include <cuda_fp16.h>\n__device__ __half2 sum;\n" TRINE_HEAD R"(
       const int adds = n > 2048 ? i < 2048 : 1;
       if (adds) atomicAdd(&sum, __halves2half2(__float2half(1.0f), __float2half(-1.0f)));
       if (i) out[i] = 0;
       if (last(n)) { out[0] = (int)__low2float(sum) * 10000 - (int)__high2float(sum);
                      sum = __halves2half2(__float2half(0.0f), __float2half(0.0f)); } })",
     &kShapes,
     [](const Shape& shape, const Ints&, Ints& out) { all_but_first(out, 0, 10001 * std::min(shape.all(), 2048)); }},
    {"hipcl 30: an atomic sum with what is not a number ends",
     "#include <cuda_fp16.h>\n__device__ double d; __device__ float f; __device__ __half h[2];\n" TRINE_HEAD R"(
       if (i == 0) { d = nan(""); f = nanf(""); h[0] = __float2half(nanf("")); }
       atomicAdd(&d, 1.0); atomicAdd(&f, 1.0f); atomicAdd(&h[0], __float2half(1.0f));
       if (i) out[i] = 1;
       if (last(n)) { d = nan(""); f = nanf(""); h[0] = __float2half(nanf(""));
                      atomicAdd(&d, 1.0); atomicAdd(&f, 1.0f); atomicAdd(&h[0], __float2half(1.0f));
                      out[0] = isnan(d) && isnan(f) && __hisnan(h[0]); } })",
     &kSmallShapes, [](const Shape&, const Ints&, Ints& out) { all_but_first(out, 1, 1); }},
};

TEST(Kernels, OfReports) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
