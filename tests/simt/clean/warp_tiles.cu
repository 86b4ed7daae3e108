// Tiles of sixteen lanes with masks of their own.
#include <cstdio>

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  const auto group = cg::tiled_partition<16>(cg::this_thread_block());
  const int base = threadIdx.x / 16 * 16;
  tile[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  group.sync();
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += tile[base + i];
  group.sync();
  tile[threadIdx.x] = sum;
  group.sync();
  out[threadIdx.x] = tile[base + 15 - group.thread_rank()];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<1, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
