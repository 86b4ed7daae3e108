// A thread reads what its neighbour writes, and no barrier stands between.
// want: race 10 11
#include <cstdio>

constexpr int kThreads = 64;

__global__ void shift(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = in[t];
  out[t] = tile[(t + 1) % kThreads];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, kThreads * sizeof(int));
  cudaMalloc(&out, kThreads * sizeof(int));
  cudaMemset(in, 1, kThreads * sizeof(int));
  shift<<<1, kThreads>>>(in, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
