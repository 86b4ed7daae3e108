// Names of libdevice, declared as libraries declare them, find their functions; what CUDA's headers name has a result.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel_case.h"

namespace trine::compute {
namespace {

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (size_t i = 0; i < static_cast<size_t>(shape.all()); ++i) out[i] = body(in[i], static_cast<int>(i));
}

const KernelCase kCases[] = {
    {"functions that are only declared", R"(
       extern "C" __device__ double __nv_sqrt(double); extern "C" __device__ float __nv_rintf(float);
       extern "C" __device__ int __nv_popc(int); extern "C" __device__ double __nv_fma_rz(double, double, double);
       extern "C" __device__ float __nv_cbrtf(float); extern "C" __device__ float __nv_half2float(short);
       extern "C" __device__ double __nv_powi(double, int); extern "C" __device__ unsigned __nv_vadd2(unsigned, unsigned);
       __global__ void k(const int* in, int* out, int n) {
         int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
         out[i] = (int)__nv_sqrt((double)v * v) + (int)__nv_rintf(v * 0.25f) * 3 + __nv_popc(v) + (int)__nv_fma_rz(v, 3.0, 0.5) +
                  (int)__nv_rintf(__nv_cbrtf((float)v * v * v)) + (int)__nv_half2float(0x4200) + (int)__nv_powi(v, 2) % 1000 +
                  (int)__nv_vadd2(0x10001, 0x1ffff) ; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int v, int) {
         return std::abs(v) + static_cast<int>(std::nearbyint(v * 0.25)) * 3 +
                __builtin_popcount(static_cast<unsigned>(v)) + static_cast<int>(v * 3 + 0.5) + v + 3 + v * v % 1000 +
                0x20000;
       });
     }},
    {"loads and stores with hints, clocks, spaces of addresses", R"(
       __global__ void k(const int* in, int* out, int n) {
         int i = blockIdx.x * blockDim.x + threadIdx.x;
         long long before = clock64(); unsigned long long now = __globaltimer(); __nanosleep(1); __prof_trigger(1);
         __stcg(out + i, __ldcg(in + i) + __ldcs(in + i) + __ldlu(in + i)); __stwt(out + i, __ldcv(out + i) + __ldca(in + i));
         __shared__ int s[1024]; s[threadIdx.x] = 5; int* back = (int*)__cvta_shared_to_generic(__cvta_generic_to_shared(&s[threadIdx.x]));
         out[i] += *back + (clock64() >= before) + (__globaltimer() >= now) + (__isGlobal(out) != 0) + *(int*)__cvta_global_to_generic(__cvta_generic_to_global(out + i)) * 0; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) { each(shape, in, out, [](int v, int) { return 4 * v + 8; }); }},
    {"atomics of a block and of the system", R"(
       __device__ unsigned all = 0, done = 0;
       __global__ void k(const int* in, int* out, int n) {
         int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
         __shared__ int sum, most; __shared__ unsigned long long bits; __shared__ float f;
         if (t == 0) { sum = 0; most = -5000; bits = 0; f = 0; } __syncthreads();
         atomicAdd_block(&sum, in[i]); atomicMax_block(&most, in[i]); atomicOr_block(&bits, 1ull << (t % 61)); atomicAdd_block(&f, 1.0f);
         atomicAdd_system(&all, 1u); __syncthreads();
         out[i] = sum + most + (int)__popcll(bits) + (int)f; __threadfence_system();
         if (atomicInc_system(&done, n - 1) == n - 1) { out[n - 1] = all; all = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       const int threads = shape.threads();
       each(shape, in, out, [&](int, int i) {
         const int* x = in.data() + i / threads * threads;
         int sum = 0, most = -5000;
         for (int j = 0; j < threads; ++j) sum += x[j], most = std::max(most, x[j]);
         return sum + most + std::min(threads, 61) + threads;
       });
       out.back() = shape.all();
     }},
};

const KernelCase kAtomics[] = {
    {"numbers of the device and of a block", R"(
       #include <cuda/atomic>
       __device__ cuda::atomic<int, cuda::thread_scope_device> all; __device__ cuda::atomic<unsigned long long> done;
       __device__ float plain;
       __global__ void k(const int* in, int* out, int n) {
         int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
         __shared__ int most, last; __shared__ float sum;
         if (t == 0) { most = -5000; sum = 0; last = 0; } __syncthreads();
         cuda::atomic_ref<int, cuda::thread_scope_block> top(most), end(last); cuda::atomic_ref<float, cuda::thread_scope_block> f(sum);
         top.fetch_max(in[i], cuda::memory_order_relaxed); f.fetch_add(0.5f); cuda::atomic_ref<float>(plain).fetch_add(1.0f, cuda::std::memory_order_relaxed);
         if (t == 0) end.store(7, cuda::memory_order_release);
         all += 2; __syncthreads();
         int seen = top.load(); while (seen < 2000 && !top.compare_exchange_weak(seen, 2000)) ;
         __syncthreads();
         out[i] = top + (int)(f.load() * 2) + end.load(cuda::memory_order_acquire);
         if (done++ == n - 1) { out[n - 1] = all.exchange(0) + (int)plain; done = 0; plain = 0; } })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int) { return 2000 + shape.threads() + 7; });
       out.back() = 3 * shape.all();
     }},
};

TEST(Kernels, Libdevice) { run_cases(kCases); }
TEST(Kernels, CudaAtomic) { run_cases(kAtomics); }

}  // namespace
}  // namespace trine::compute
