// memcpy of more than there is.
// want: memory 8
#include <cstdio>

struct Row { int v[12]; };
__global__ void k(const int* in, int* out) {
  if (threadIdx.x != 63) return;
  Row row = reinterpret_cast<const Row*>(in)[21];
  out[0] = row.v[in[0]];
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
