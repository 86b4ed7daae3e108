// half and bf16 that threads hand to each other, add atomically, convert, and put through functions.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel_case.h"
#include "narrow_case.h"

namespace trine::compute {
namespace {

#define TRINE_HEAD                                                          \
  "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_fp8.h>\n" \
  "__global__ void k(const int* in, int* out, int n) {\n"                   \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t; (void)t; (void)size;\n"

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (size_t i = 0; i < static_cast<size_t>(shape.all()); ++i) out[i] = body(in[i], static_cast<int>(i));
}

// Of a function whose result lies within half a unit and a hundredth: 1 for good.
constexpr const char* kNear = R"(
  __device__ int near(float got, double exact, double unit) {
    double error = got - exact;
    return (error < 0 ? -error : error) <= 0.51 * unit; }
)";

const KernelCase kCases[] = {
    {"shuffles", TRINE_HEAD R"(
       half a = in[i]; half2 p(a, half(t)); __nv_bfloat16 b = t; __nv_bfloat162 q(b, __nv_bfloat16(1.0f));
       a = __shfl_xor_sync(~0u, a, 5); p = __shfl_down_sync(~0u, p, 3); b = __shfl_up_sync(~0u, b, 2, 16); q = __shfl_sync(~0u, q, 7);
       out[i] = __half2int_rn(a) * 3 + __half2int_rn(p.x) * 5 + __half2int_rn(p.y) * 7 + __bfloat162int_rn(b) * 11 + __bfloat162int_rn(q.x) * 13; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const auto rounded = [](int v) { return static_cast<int>(kBf16.value(kBf16.nearest(v))); };
         const int t = i % shape.threads(), first = i / 32 * 32, lane = i % 32, down = lane + 3 < 32 ? 3 : 0;
         const int up = lane % 16 >= 2 ? 2 : 0;
         return in[static_cast<size_t>(first + (lane ^ 5))] * 3 + in[static_cast<size_t>(i + down)] * 5 +
                (t + down) * 7 + rounded(t - up) * 11 + rounded(t / 32 * 32 + 7) * 13;
       });
     }},
    {"groups reduce and hand on",
     "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n" TRINE_HEAD R"(
       namespace cg = cooperative_groups; auto tile = cg::tiled_partition<16>(cg::this_thread_block());
       half sum = cg::reduce(tile, half(in[i] % 60), cg::plus<half>()); half2 last = tile.shfl(half2(sum, half(t)), 15);
       __nv_bfloat16 most = cg::reduce(tile, __nv_bfloat16(in[i] % 60), cg::greater<__nv_bfloat16>());
       out[i] = __half2int_rn(sum) + 3 * __half2int_rn(last.y) + 5 * __bfloat162int_rn(most); })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         int sum = 0, most = -60;
         for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j) {
           const int v = in[static_cast<size_t>(j)] % 60;
           sum += v;
           most = std::max(most, v);
         }
         return sum + 3 * (i % shape.threads() / 16 * 16 + 15) + 5 * most;
       });
     }},
    {"atomic sums, shared and global", R"(
       #include <cuda_bf16.h>
       #include <cuda_fp16.h>
       __device__ half total; __device__ half2 pair; __device__ __nv_bfloat16 wide; __device__ unsigned done = 0;
       __global__ void k(const int* in, int* out, int n) {
       int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
       __shared__ half s; __shared__ __nv_bfloat162 q;
       if (t == 0) { s = 0; q = __nv_bfloat162(__nv_bfloat16(0), __nv_bfloat16(0)); }
       __syncthreads();
       atomicAdd(&s, half(1)); if (t < 100) atomicAdd(&q, __nv_bfloat162(__nv_bfloat16(1), __nv_bfloat16(2)));
       if (i < 200) { atomicAdd(&total, half(1)); atomicAdd(&pair, half2(half(2), half(-1))); atomicAdd(&wide, __nv_bfloat16(1)); }
       __syncthreads();
       out[i] = __half2int_rn(s) + 3 * __bfloat162int_rn(q.x) + 5 * __bfloat162int_rn(q.y);
       __threadfence();
       if (atomicAdd(&done, 1) == n - 1) {
         out[n - 1] = __half2int_rn(total) + 1000 * __half2int_rn(pair.x) + 7 * __half2int_rn(pair.y) + 3 * __bfloat162int_rn(wide);
         total = 0; pair = half2(half(0), half(0)); wide = 0; done = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int) {
         const int few = std::min(shape.threads(), 100);
         return shape.threads() + 3 * few + 5 * 2 * few;
       });
       const int m = std::min(shape.all(), 200);
       out.back() = m + 1000 * 2 * m - 7 * m + 3 * m;
     }},
    {"an atomic sum tells what was there", TRINE_HEAD R"(
       __shared__ half s; if (t == 0) s = 0; __syncthreads();
       half before = atomicAdd(&s, half(1)); out[blockIdx.x * size + __half2int_rn(before)] = 1; })",
     &kShapes, [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, [](int, int) { return 1; }); }},
    {"whole numbers and roundings", TRINE_HEAD R"(
       int v = in[i] * 1237; float x = in[i] * 0.001f;
       out[i] = (int)__half_as_ushort(__int2half_rn(v % 60000)) + 3 * (int)__bfloat16_as_ushort(__ll2bfloat16_rn((long long)v << 20)) +
                (__half2float(__float2half_rd(x)) <= x) + 2 * (__half2float(__float2half_ru(x)) >= x) +
                4 * (__half2float(__float2half_rz(x)) * x >= 0) + 8 * (__bfloat162int_ru(__float2bfloat16(x))); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int value, int) {
         const int v = value * 1237;
         const float x = static_cast<float>(value) * 0.001f;
         return static_cast<int>(kHalf.nearest(v % 60000)) +
                3 * static_cast<int>(kBf16.nearest(static_cast<long double>(v) * 1048576)) + 7 +
                8 * static_cast<int>(std::ceil(kBf16.value(kBf16.nearest(x))));
       });
     }},
    {"vectors of eight are loaded and stored at once", TRINE_HEAD R"(
       __align__(16) half x[8]; for (int j = 0; j < 8; ++j) x[j] = half(in[i] + j);
       float4 all = *(const float4*)x; __align__(16) half2 y[4]; *(float4*)y = all;
       half2 sum = (y[0] + y[1]) + (y[2] + y[3]); out[i] = __half2int_rn(__ldg(&in[i]) ? sum.x : half(12)) + __half2int_rn(sum.y); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int) {
         const auto rounded = [](int sum) { return static_cast<int>(kHalf.value(kHalf.nearest(sum))); };
         const auto all = [&](int first) {
           return rounded(rounded(2 * v + first * 2 + 2) + rounded(2 * v + first * 2 + 10));
         };
         return all(0) + all(1);
       });
     }},
    {"fp8", TRINE_HEAD R"(
       float x = in[i] * 0.125f; __nv_fp8_e4m3 a(x); __nv_fp8_e5m2 b(x); __nv_fp8x4_e4m3 four(make_float4(x, -x, x, 2.0f));
       float4 back = (float4)four;
       out[i] = (int)((float)a * 512) + (int)((float)b * 512) * 3 + (back.x == (float)a) + (back.y == -(float)a) + (back.w == 2.0f) + (__half2float((half)b) == (float)b); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int) {
         const auto rounded = [&](int mantissa, int least) {
           const double x = v * 0.125,
                        unit = std::ldexp(1.0, v == 0 ? least : std::max(std::ilogb(x), least) - mantissa);
           return static_cast<int>(std::nearbyint(x / unit) * unit * 512);
         };
         return rounded(3, -6) + rounded(2, -14) * 3 + 4;
       });
     }},
};

TEST(Kernels, NarrowMoves) { run_cases(kCases); }

constexpr const char* kFunctions = R"(
  __device__ void check(int* bits, int which, float got, double exact, double least) {
    int e = ilogb(exact); double unit = ldexp(1.0, (e < -14 && least < 0 ? -14 : e) - (least < 0 ? 10 : 7));
    *bits |= near(got, exact, unit) << which; }
)";

TEST(Kernels, NarrowFunctions) {
  const std::string source = std::string("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n") + kNear + kFunctions + R"(
    __global__ __launch_bounds__(1024) void k(const int* in, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, good = 0;
      half h = half(in[i] * 0.0075f); double x = (float)h, a = x < 0 ? -x : x; half p = half((float)a + 0.1f); double y = (float)p;
      check(&good, 0, hexp(h), exp(x), -1); check(&good, 1, hexp2(h), exp2(x), -1); check(&good, 2, hlog(p), log(y), -1);
      check(&good, 3, hlog2(p), log2(y), -1); check(&good, 4, hlog10(p), log10(y), -1); check(&good, 5, hsin(h), sin(x), -1);
      check(&good, 6, hcos(h), cos(x), -1); check(&good, 7, hsqrt(p), sqrt(y), -1); check(&good, 8, hrsqrt(p), rsqrt(y), -1);
      check(&good, 9, hrcp(p), 1 / y, -1); check(&good, 10, htanh(h), tanh(x), -1);
      __nv_bfloat16 b = __nv_bfloat16((float)h); double z = (float)b;
      check(&good, 11, hexp(b), exp(z), 1); check(&good, 12, hcos(b), cos(z), 1); check(&good, 13, h2exp(half2(h, h)).y, exp(x), -1);
      out[i] = good; })";
  const KernelCase row = {"functions", source.c_str(), &kShapes, [](const Shape& shape, const Ints& in, Ints& out) {
                            each(shape, in, out, [](int, int) { return (1 << 14) - 1; });
                          }};
  for (const Target& target : targets()) run_case(row, target);
}

}  // namespace
}  // namespace trine::compute
