// Dynamic shared memory, templates over types, shuffles, atomics.
#include <cstdio>
#include <vector>

template <class T>
__global__ void reduce(const T* in, T* out, int n) {
  extern __shared__ unsigned char raw[];
  T* part = reinterpret_cast<T*>(raw);
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step >= 32; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    sum = part[threadIdx.x];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

template <class T>
bool right(int n) {
  std::vector<T> in(n);
  T want = 0;
  for (int i = 0; i < n; ++i) want += in[i] = T(i % 3);
  T *din, *dout, got = -1;
  cudaMalloc(&din, n * sizeof(T));
  cudaMalloc(&dout, sizeof(T));
  cudaMemcpy(din, in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemset(dout, 0, sizeof(T));
  reduce<T><<<8, 128, 128 * sizeof(T)>>>(din, dout, n);
  if (cudaMemcpy(&got, dout, sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  cudaFree(din);
  cudaFree(dout);
  return got == want;
}

int main() {
  for (int n : {1, 31, 33, 1024, 5000})
    if (!right<int>(n) || !right<float>(n) || !right<double>(n)) {
      printf("wrong for %d\n", n);
      return 1;
    }
  printf("passed\n");
}
