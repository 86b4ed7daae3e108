// What the device headers offer: each row must compile, to a kernel and to PTX.
#include <gtest/gtest.h>

#include <string>

#include "compile.h"

namespace trine::simt {
namespace {

struct Accepted {
  const char* why;
  const char* source;
  int standard = 20;
};

void expect_accepted(const Accepted& row) {
  try {
    const DeviceModule module = parsed(row.source, {.standard = row.standard});
    EXPECT_EQ(module.warnings, "") << row.why;
    EXPECT_EQ(compiler().ptx(module, "sm_80", 80, false).find("__mul"), std::string::npos) << row.why;
  } catch (const Error& error) {
    ADD_FAILURE() << row.why << "\n" << error.what();
  }
}

const Accepted kLibrary[] = {
    {"<type_traits>",
     "#include <type_traits>\ntemplate <class T> __global__ void k(T* x) { if constexpr (std::is_same_v<T, float>) *x "
     "= 1; }\ntemplate __global__ void k<float>(float*);"},
    {"C++14", "__global__ void k(int* x) { *x = __match_any_sync(~0u, *x) + __ldg(x); atomicAdd(x, 1); }", 14},
    {"C++17",
     "#include <utility>\n#include <cooperative_groups.h>\n__global__ void k(int* x) { auto [a, b] = std::pair(x[0], "
     "x[1]); *x = a + b; }",
     17},
    {"constants", "#include <math_constants.h>\n__global__ void k(float* x) { *x = CUDART_INF_F + CUDART_PI_F; }"},
    {"<utility>",
     "#include <utility>\n__device__ int f(int&& x) { return x; }\n__global__ void k(int* x) { int y = 3; *x = "
     "f(std::move(y)); std::swap(x[0], x[1]); std::pair<int, float> p{1, 2.f}; *x += p.first; }"},
    {"<cstdint>", "#include <cstdint>\n__global__ void k(std::uint64_t* x, int8_t c) { *x = UINT32_MAX + c; }"},
    {"<limits>",
     "#include <limits>\n__global__ void k(float* x) { *x = std::numeric_limits<float>::infinity() + "
     "std::numeric_limits<short>::max(); }"},
    {"<climits>, <cfloat>",
     "#include <climits>\n#include <cfloat>\n__global__ void k(float* x) { *x = FLT_MAX - SHRT_MAX; }"},
    {"<tuple>, <array>",
     "#include <array>\n#include <tuple>\n__global__ void k(int* x) { std::array<int, 3> a{1, 2, 3}; auto t = "
     "std::make_tuple(1, 2.f); *x = a[1] + std::get<0>(t) + a.size(); }"},
    {"<algorithm>",
     "#include <algorithm>\n__global__ void k(int* x) { *x = std::min(x[1], x[2]) + std::max({x[3], x[4]}) + "
     "std::clamp(*x, 1, 3); }"},
    {"<functional>",
     "#include <functional>\n__global__ void k(int* x) { *x = std::plus<int>()(1, *x) + std::less<>()(x[1], 2); }"},
    {"<new>",
     "#include <new>\nstruct S { int i; __device__ S(int i) : i(i) {} __device__ virtual ~S() {} __device__ virtual "
     "int f() { return i; } };\n__global__ void k(int* x) { alignas(S) char b[sizeof(S)]; S* s = new (b) S(3); *x = "
     "s->f(); S* t = new S(4); *x += t->i; delete t; int* a = new int[4]; delete[] a; }"},
    {"<cassert>", "#include <cassert>\n__global__ void k(int* x) { assert(*x > 0 && \"positive\"); }"},
    {"<cstdio>",
     "#include <cstdio>\n__global__ void k(int* x) { printf(\"%d\\n\", *x); }\nvoid host() { printf(\"%d\\n\", 3); "
     "std::printf(\"x\"); }"},
    {"<cstring>, <cstdlib>",
     "#include <cstring>\n#include <cstdlib>\n__global__ void k(char* x) { memcpy(x, x + 8, 8); memset(x, 0, 4); void* "
     "p = malloc(8); free(p); }\nvoid host(char* p) { memcpy(p, p, 1); free(malloc(3)); }"},
    {"<concepts>",
     "#include <concepts>\ntemplate <std::integral T> __global__ void k(T* x) { *x = 1; }\ntemplate __global__ void "
     "k<int>(int*);"},
    {"<complex>",
     "#include <complex>\n__global__ void k(std::complex<float>* x) { x[0] = x[0] * x[1] + std::conj(x[2]); }"},
    {"<numeric>, <iterator>, <memory>",
     "#include <numeric>\n#include <iterator>\n#include <memory>\nint host() { return *std::make_unique<int>(3); "
     "}\n__global__ void k(int* x) { *x = std::gcd(12, 18); }"},
};

TEST(Headers, StandardLibrary) {
  for (const Accepted& row : kLibrary) expect_accepted(row);
}

const Accepted kRandom[] = {
    {"Philox", R"(
/**/#include <curand_kernel.h>
      __global__ void init(curandState* s, unsigned long long seed) { curand_init(seed, threadIdx.x, 0, &s[threadIdx.x]); }
      __global__ void k(curandStatePhilox4_32_10_t* s, float* x, unsigned* u, double* d) {
        curandStatePhilox4_32_10_t mine = s[threadIdx.x];
        *u = curand(&mine) + curand4(&mine).w;
        *x = curand_uniform(&mine) + curand_normal(&mine) + curand_normal4(&mine).z + curand_log_normal(&mine, 0, 1);
        *d = curand_uniform_double(&mine);
        skipahead(3, &mine);
        s[threadIdx.x] = mine;
      })"},
};

TEST(Headers, Random) {
  for (const Accepted& row : kRandom) expect_accepted(row);
}

const Accepted kIntrinsics[] = {
    {"rounded",
     "__global__ void k(float* x, double* y) { *x = __fadd_rz(*x, 1) + __fsub_ru(*x, 1) + __fmul_rd(*x, 3) + "
     "__fdiv_rn(*x, 3) + __frcp_rn(*x) + __fsqrt_ru(*x) + __fmaf_rn(*x, 2, 3) + __frsqrt_rn(*x); *y = __dadd_rn(*y, 1) "
     "+ __ddiv_rz(*y, 3) + __fma_rd(*y, 2, 3) + __drcp_ru(*y); }"},
    {"converted",
     "__global__ void k(int* i, long long* l, float* x, double* y) { *i = __float2int_rn(*x) + __float2uint_rz(*x) + "
     "__double2int_ru(*y); *l = __float2ll_rd(*x) + __double2ull_rn(*y); *x = __int2float_rn(*i) + __ull2float_rz(*l) "
     "+ __double2float_ru(*y); *y = __ll2double_rn(*l) + __uint2double_rn(*i); }"},
    {"bits",
     "__global__ void k(int* i, float* x, double* y) { *i = __float_as_int(*x) + __float_as_uint(*x) + "
     "__double2hiint(*y); *x = __int_as_float(*i) + __uint_as_float(*i); *y = "
     "__longlong_as_double(__double_as_longlong(*y)) + __hiloint2double(1, 2); }"},
    {"fast",
     "__global__ void k(float* x) { *x = __sinf(*x) + __cosf(*x) + __tanf(*x) + __expf(*x) + __exp10f(*x) + __logf(*x) "
     "+ __log2f(*x) + __log10f(*x) + __powf(*x, 2) + __fdividef(*x, 3) + __saturatef(*x); __sincosf(*x, x, x + 1); }"},
};

TEST(Headers, FloatIntrinsics) {
  for (const Accepted& row : kIntrinsics) expect_accepted(row);
}

const Accepted kNarrow[] = {
    {"half", R"(
/**/#include <cuda_fp16.h>
      __global__ void k(half* x, half2* y, float* f, int* n) {
        x[0] = x[1] * x[2] + x[3] / x[4];
        y[0] = __hfma2(y[1], y[2], y[3]) - y[4];
        f[0] = __half2float(__hfma_sat(x[0], x[1], x[2])) + __low2float(y[5]);
        n[0] = __half2int_rz(x[5]) + (x[0] < x[1]) + __hbgeu2(y[0], y[1]) + __heq2_mask(y[0], y[1]);
        x[6] = __float2half_ru(f[1]) + hexp(x[7]) + __hmax_nan(x[1], x[2]);
        x[7] = __shfl_down_sync(~0u, x[1], 1) + __ldg(x + 2) + half(n[1]);
        atomicAdd(x + 8, x[1]);
        atomicAdd(y + 8, y[1]);
        ++x[9];
      })"},
    {"bf16, C++14", R"(
/**/#include <cuda_bf16.h>
      __global__ void k(__nv_bfloat16* x, __nv_bfloat162* y, float* f) {
        x[0] = x[1] * x[2] + x[3] - __hfma(x[4], x[5], x[6]);
        y[0] = __hmul2(y[1], y[2]) + h2sqrt(__hcmadd(y[3], y[4], y[5]));
        f[0] = __bfloat162float(x[1]) + __bfloat1622float2(y[1]).x;
        atomicAdd(x + 8, x[1]);
        atomicAdd_system(y + 8, y[1]);
      })",
     14},
    {"fp8", R"(
/**/#include <cuda_fp8.h>
      __global__ void k(__nv_fp8_e4m3* x, __nv_fp8x4_e5m2* y, float4* f) {
        x[0] = __nv_fp8_e4m3(f[0].x);
        f[1] = (float4)y[0];
        x[1].__x = __nv_cvt_float_to_fp8(f[0].y, __NV_NOSAT, __NV_E5M2);
      })"},
    {"<cuda/atomic>",
     "#include <cuda/atomic>\n__device__ cuda::atomic<int, cuda::thread_scope_block> a;\n__global__ void k(unsigned* "
     "x, double* d) { "
     "cuda::atomic_ref<unsigned> r(*x); r.fetch_and(7); r.fetch_min(3u, cuda::memory_order_acquire); "
     "cuda::atomic_ref<double>(*d).fetch_add(1.0); *x += a.load() + a.fetch_xor(3); }\n"
     "int host() { cuda::atomic<int> b(3); return ++b + b.exchange(4); }"},
    {"all of libdevice",
     "#include <trine_libdevice.h>\n__global__ void k(double* x) { *x = __nv_j0(*x) + __nv_tgamma(*x); }"},
};

TEST(Headers, NarrowNumbers) {
  for (const Accepted& row : kNarrow) expect_accepted(row);
}

// What an instruction of the machine does stands in PTX as such.
TEST(Headers, InstructionsOfGpus) {
  const auto ptx_of = [](const char* body, const char* architecture) {
    const std::string source =
        std::string(
            "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__global__ void k(half* x, half2* y, "
            "__nv_bfloat162* b, float* f) { ") +
        body + " }";
    return compiler().ptx(parsed(source), architecture, 80, false);
  };
  const auto expect = [](const std::string& ptx, const char* instruction) {
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << " is not in\n" << ptx;
  };
  expect(ptx_of("y[0] = __hfma2(y[1], y[2], y[3]);", "sm_80"), "fma.rn.f16x2");
  expect(ptx_of("y[0] = y[1] + y[2];", "sm_70"), "add.rn.f16x2");
  expect(ptx_of("b[0] = __hfma2(b[1], b[2], b[3]);", "sm_80"), "fma.rn.bf16x2");
  expect(ptx_of("x[0] = __float2half(f[0]);", "sm_80"), "cvt.rn.f16.f32");
  expect(ptx_of("f[0] = __expf(f[1]);", "sm_80"), "ex2.approx");
  expect(ptx_of("f[0] = __sinf(f[1]);", "sm_80"), "sin.approx");
  expect(ptx_of("f[0] = __log2f(f[1]);", "sm_80"), "lg2.approx");
  expect(ptx_of("f[0] = __fadd_rz(f[1], f[2]);", "sm_80"), "add.rz.f32");
  expect(ptx_of("f[0] = __fmaf_ru(f[1], f[2], f[3]);", "sm_80"), "fma.rp.f32");
  expect(ptx_of("f[0] = __dsqrt_rd(f[1]);", "sm_80"), "sqrt.rm.f64");
  expect(ptx_of("f[0] = __fdividef(f[1], f[2]);", "sm_80"), "div.approx");
}

const Accepted kGroups[] = {
    {"blocks and tiles", R"(
/**/#include <cooperative_groups.h>
/**/#include <cooperative_groups/reduce.h>
/**/#include <cooperative_groups/scan.h>
      namespace cg = cooperative_groups;
      struct Pair { float value; long long index; short rest; };
      __global__ void k(int* x, float* f) {
        cg::thread_block block = cg::this_thread_block();
        auto warp = cg::tiled_partition<32>(block);
        auto quarter = cg::tiled_partition<8>(warp);
        cg::thread_block_tile<8> any_parent = quarter;
        f[block.thread_rank()] = cg::reduce(warp, f[0], cg::plus<float>()) + cg::reduce(quarter, f[1], cg::greater<float>());
        x[warp.meta_group_rank()] = cg::inclusive_scan(quarter, x[0]) + cg::exclusive_scan(warp, x[1], cg::less<int>());
        x[any_parent.meta_group_size()] = warp.shfl_down(x[2], 3) + quarter.ballot(x[3]) + warp.any(x[4]);
        Pair p = warp.shfl(Pair{f[0], x[0], 1}, 0);
        f[2] = p.value + p.index;
        int all;
        x[5] = warp.match_all(x[5], all) + warp.match_any(x[6]) + all + cg::reduce(warp, x[7], [](int a, int b) { return a * b; });
        cg::sync(block);
        block.sync();
      })"},
    {"coalesced threads", R"(
/**/#include <cooperative_groups.h>
/**/#include <cooperative_groups/reduce.h>
      using namespace cooperative_groups;
      __device__ int aggregated(int* counter) {
        coalesced_group active = coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
        return active.shfl(first, 0) + active.thread_rank();
      }
      __global__ void k(int* x) {
        if (x[threadIdx.x] > 0) x[aggregated(x)] = reduce(coalesced_threads(), x[1], plus<int>());
        auto odd = binary_partition(tiled_partition<32>(this_thread_block()), threadIdx.x & 1);
        x[odd.thread_rank()] = odd.size() + odd.ballot(1);
      })"},
    {"any group", R"(
/**/#include <cooperative_groups.h>
      using namespace cooperative_groups;
      __device__ int sum(thread_group g, int* temp, int value) {
        for (int i = g.size() / 2; i > 0; i /= 2) {
          temp[g.thread_rank()] = value;
          g.sync();
          if (g.thread_rank() < i) value += temp[g.thread_rank() + i];
          g.sync();
        }
        return value;
      }
      __global__ void k(int* x) {
        extern __shared__ int temp[];
        thread_block block = this_thread_block();
        x[0] = sum(block, temp, x[1]) + sum(tiled_partition(block, 16), temp, x[2]) + sum(this_thread(), temp, 1);
      })"},
    {"grids", R"(
/**/#include <cooperative_groups.h>
      __global__ void k(int* x) {
        auto grid = cooperative_groups::this_grid();
        x[grid.thread_rank()] = grid.size() + grid.block_rank() + grid.num_blocks();
        grid.sync();
        x[0] = x[grid.size() - 1];
      })"},
    {"copies", R"(
/**/#include <cooperative_groups.h>
/**/#include <cooperative_groups/memcpy_async.h>
      __global__ void k(const float* x, float* y) {
        __shared__ float s[256];
        auto block = cooperative_groups::this_thread_block();
        cooperative_groups::memcpy_async(block, s, x, sizeof s);
        cooperative_groups::wait(block);
        y[block.thread_rank()] = s[255 - block.thread_rank()];
      })"},
};

TEST(Headers, CooperativeGroups) {
  for (const Accepted& row : kGroups) expect_accepted(row);
}

}  // namespace
}  // namespace trine::simt
