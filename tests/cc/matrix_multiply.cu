// Tiles in shared memory, two-dimensional blocks, templates, events that time.
#include <cstdio>
#include <cstdlib>

template <int kTile>
__global__ void multiply(float* c, const float* a, const float* b, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 64, bytes = n * n * sizeof(float);
  float *a, *b, *c;
  cudaMallocManaged(&a, bytes);
  cudaMallocManaged(&b, bytes);
  cudaMallocManaged(&c, bytes);
  for (int i = 0; i < n * n; ++i) {
    a[i] = float(i % 7);
    b[i] = float(i % 5);
  }
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  multiply<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = -1;
  if (cudaEventElapsedTime(&ms, start, stop) != cudaSuccess || !(ms >= 0)) return 2;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      if (c[i * n + j] != sum) {
        printf("(%d,%d): %g, not %g\n", i, j, c[i * n + j], sum);
        return 1;
      }
    }
  printf("passed\n");
  return 0;
}
