// The default stream and streams that block wait for each other; queries say what is behind, and fills do not wait.
#include <cstdio>

__device__ volatile int turns;

__global__ void slow_add(int* x, int by) {
  for (int i = 0; i < 20000; ++i) turns = i;  // late on purpose
  x[threadIdx.x] = x[threadIdx.x] * 3 + by;
}

int main() {
  int *x, host[32], want = 0;
  cudaStream_t a, b, apart;
  cudaEvent_t end;
  cudaMalloc(&x, sizeof host);
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEventCreate(&end);
  cudaMemset(x, 0, sizeof host);
  // a -> default -> b -> default -> a: the order of the host, though only the default stream makes it one.
  cudaStream_t order[] = {a, nullptr, b, nullptr, a};
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 5; ++i) {
      slow_add<<<1, 32, 0, order[i]>>>(x, i);
      want = want * 3 + i;
    }
  cudaEventRecord(end, nullptr);
  cudaError_t state = cudaEventQuery(end);
  if (state != cudaSuccess && state != cudaErrorNotReady) return 1;
  if (cudaGetLastError() != cudaSuccess) return 2;  // not ready is no error that stays
  while ((state = cudaStreamQuery(nullptr)) == cudaErrorNotReady) continue;
  if (state != cudaSuccess || cudaEventQuery(end) != cudaSuccess || cudaStreamQuery(apart) != cudaSuccess) return 3;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int value : host)
    if (value != want) return 4;
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaStreamDestroy(apart);
  cudaEventDestroy(end);
  printf("passed\n");
}
