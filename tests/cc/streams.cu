// Streams, asynchronous copies from pinned memory, host functions, order by events.
#include <cstdio>

__global__ void scale(int* x, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

int main() {
  const int n = 1000, parts = 4;
  int *host, *device, calls = 0;
  cudaHostAlloc(&host, n * parts * sizeof(int), cudaHostAllocDefault);
  cudaMalloc(&device, n * parts * sizeof(int));
  for (int i = 0; i < n * parts; ++i) host[i] = i;
  cudaStream_t streams[parts];
  cudaEvent_t done[parts];
  for (int p = 0; p < parts; ++p) {
    cudaStreamCreateWithFlags(&streams[p], cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done[p], cudaEventDisableTiming);
    int *from = host + p * n, *to = device + p * n;
    cudaMemcpyAsync(to, from, n * sizeof(int), cudaMemcpyHostToDevice, streams[p]);
    scale<<<(n + 127) / 128, 128, 0, streams[p]>>>(to, n, p + 2);
    cudaMemcpyAsync(from, to, n * sizeof(int), cudaMemcpyDeviceToHost, streams[p]);
    cudaEventRecord(done[p], streams[p]);
  }
  for (int p = 1; p < parts; ++p) cudaStreamWaitEvent(streams[0], done[p]);
  cudaLaunchHostFunc(streams[0], [](void* c) { ++*static_cast<int*>(c); }, &calls);
  if (cudaStreamSynchronize(streams[0]) != cudaSuccess || cudaStreamQuery(streams[0]) != cudaSuccess) return 2;
  for (int i = 0; i < n * parts; ++i)
    if (host[i] != i * (i / n + 2)) return 1;
  if (calls != 1) return 3;
  for (int p = 0; p < parts; ++p) {
    cudaStreamDestroy(streams[p]);
    cudaEventDestroy(done[p]);
  }
  cudaFreeHost(host);
  printf("passed\n");
}
