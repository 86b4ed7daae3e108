// Local arrays, pointers to them, recursion, structs with holes.
#include <cstdio>

struct Holes { char c; double d; short s; };
__device__ __noinline__ int walk(int* values, int n) { return n == 0 ? 0 : values[n - 1] + walk(values, n - 1); }
__global__ void k(const int* in, int* out) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = in[i] + i;
  Holes a{1, 2.0, 3}, b = a;
  Holes many[3] = {a, b, a};
  out[threadIdx.x] = walk(values, 8) + many[threadIdx.x % 3].s + static_cast<int>(b.d);
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
