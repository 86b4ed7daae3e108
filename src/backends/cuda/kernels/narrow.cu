// A vector of f32 as halves: biases for vendors' libraries, which want them as the result is.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void narrow_f16(const float* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half_rn(x[i]);
}

extern "C" __global__ void narrow_bf16(const float* x, __nv_bfloat16* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16_rn(x[i]);
}
