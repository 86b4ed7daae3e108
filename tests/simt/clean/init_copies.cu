// Copies of structs with holes and with members that nobody sets are no reads; nor are bit fields set by reading them.
#include <cstdio>

struct Holes {
  char c;
  double d;
  short s;
};
struct Optional {
  bool there;
  int value;
};
struct Bits {
  unsigned a : 3, b : 5, c : 24;
};

__device__ __noinline__ Holes make(int i) {
  Holes made;
  made.c = static_cast<char>(i);
  made.d = i;
  made.s = static_cast<short>(i);
  return made;
}
__device__ __noinline__ Optional find(int i) {
  Optional found;
  found.there = i % 2 == 0;
  if (found.there) found.value = i;
  return found;
}
__device__ __noinline__ int take(Holes holes, Optional found) {
  return static_cast<int>(holes.d) + (found.there ? found.value : 0);
}
__global__ void k(Holes* holes, Optional* found, int* out) {
  __shared__ Holes exchanged[64];
  __shared__ Bits bits;
  const int i = threadIdx.x;
  if (i == 0) {
    bits.a = 1;
    bits.b = 2;
    bits.c = 3;
  }
  holes[i] = make(i);
  exchanged[i] = holes[i];
  found[i] = find(i);
  __syncthreads();
  Holes mine = exchanged[63 - i];
  Optional other = found[i];
  int first = 0;
  if (i % 32 == 0) first = i;
  first = __shfl_sync(~0u, first, 0);
  out[i] = take(mine, other) + static_cast<int>(bits.a + bits.b + bits.c) + first;
}
__global__ void copy(const Holes* from, Holes* to) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
  Holes *holes, *same;
  Optional* found;
  int* out;
  cudaMalloc(&holes, 64 * sizeof(Holes));
  cudaMalloc(&same, 64 * sizeof(Holes));
  cudaMalloc(&found, 64 * sizeof(Optional));
  cudaMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(holes, found, out);
  copy<<<1, 64>>>(holes, same);
  copy<<<1, 64>>>(same + 0, holes);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(holes);
  cudaFree(same);
  cudaFree(found);
  cudaFree(out);
  return error != cudaSuccess;
}
