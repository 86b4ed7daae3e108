// half, bf16 and fp8 on both sides: what the device computes is what the host computes, bit for bit.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// What each side makes of i.
__host__ __device__ int mixed(int i) {
  const half a = __float2half(0.37f * i - 20), b = __ushort_as_half((unsigned short)(i * 73));
  const half2 p = __hfma2(half2(a, b), half2(a, a), half2(b, b));
  const __nv_bfloat16 c = __float2bfloat16(1.01f * i), d = __hfma(c, c, c) / __nv_bfloat16(7.0f);
  const __nv_fp8_e4m3 e((float)a);
  const __nv_fp8_e5m2 f((double)(float)d);
  const unsigned x = __hisnan(p.x) ? 0x7fff : __half_as_ushort(p.x), y = __hisnan(p.y) ? 0x7fff : __half_as_ushort(p.y);
  return (int)(x * 31 + y) * 31 + __bfloat16_as_ushort(d) + e.__x * 7 + f.__x * 13 + (int)((float)e + (float)f) +
         __half2int_rn(a) + (a < half(3)) + __half2short_rz(__float2half_ru(0.3f * i));
}

__global__ void k(int* out, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) out[i] = mixed(i);
}

// The sum of a block, by shuffles and an atomic operation.
__global__ void sum(const half* in, half* out, __nv_bfloat162* pairs) {
  half v = in[threadIdx.x];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
  atomicAdd(pairs, __nv_bfloat162(__nv_bfloat16(1.0f), __nv_bfloat16(0.5f)));
}

int main() {
  const int n = 20000;
  std::vector<int> got(n, -1);
  int* device = nullptr;
  cudaMalloc(&device, n * sizeof(int));
  k<<<(n + 95) / 96, 96>>>(device, n);
  if (cudaMemcpy(got.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < n; ++i)
    if (got[i] != mixed(i)) {
      printf("%d: %d, not %d\n", i, got[i], mixed(i));
      return 1;
    }

  half *in = nullptr, *out = nullptr;
  __nv_bfloat162* pairs = nullptr;
  cudaMallocManaged(&in, 128 * sizeof(half));
  cudaMallocManaged(&out, sizeof(half));
  cudaMallocManaged(&pairs, sizeof *pairs);
  for (int i = 0; i < 128; ++i) in[i] = i % 7 - 3;
  *out = 1.5;
  *pairs = __nv_bfloat162(__nv_bfloat16(0.0f), __nv_bfloat16(0.0f));
  sum<<<1, 128>>>(in, out, pairs);
  cudaDeviceSynchronize();
  float expected = 1.5f;
  for (int i = 0; i < 128; ++i) expected += i % 7 - 3;
  if ((float)*out != expected || (float)pairs->x != 128 || __high2float(*pairs) != 64) {
    printf("%g, not %g; %g %g\n", (float)*out, expected, (float)pairs->x, (float)pairs->y);
    return 1;
  }
  printf("passed\n");
}
