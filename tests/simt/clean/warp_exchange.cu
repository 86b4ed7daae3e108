// __syncwarp on both sides.
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  volatile int* v = tile;
  const int t = threadIdx.x;
  v[t] = in[t] + t;
  for (int distance = 1; distance < 32; distance *= 2) {
    __syncwarp();
    const int other = v[t ^ distance];
    __syncwarp();
    v[t] = v[t] + other;
  }
  out[t] = v[t];
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
