// Four floats are read at once from an address for one.
// want: memory 6
#include <cstdio>

__global__ void k(const int* in, int* out) {
  const int4 v = *reinterpret_cast<const int4*>(in + threadIdx.x);
  out[threadIdx.x] = v.x + v.w;
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
