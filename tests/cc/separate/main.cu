// Device code in parts: functions and variables of other files, statics of the same name, managed variables, a kernel
// of another file, a template instantiated elsewhere, a table of functions.
#include <cstdio>

#include "parts.h"

static __device__ int offset = 3;  // counters.cu has another
extern __device__ int total;
extern __constant__ float weights[4];
extern __managed__ int rounds;
__managed__ int answer = 5;

namespace {
__global__ void kernel(int* out) {
  const int i = threadIdx.x;
  out[i] = scale(i) + offset + static_cast<int>(weights[i % 4]) + half_of<int>(2 * i) + apply(i % 2, i);
  add_to_total(1);
  if (i == 0) answer += rounds;
}
}  // namespace

#define CHECK(what) \
  if (!(what)) return printf("failed: %s (%s)\n", #what, cudaGetErrorString(cudaGetLastError())), 1

int main() {
  CHECK(answer == 5);
  CHECK(rounds == 7);
  const int begin = 100, moved = 10;
  CHECK(cudaMemcpyToSymbol(total, &begin, sizeof begin) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(offset, &moved, sizeof moved) == cudaSuccess);
  CHECK(offset_of_counters() == 1000);  // not the one above
  int *out, got[32];
  CHECK(cudaMalloc(&out, sizeof got) == cudaSuccess);
  kernel<<<1, 32>>>(out);
  twice<<<1, 32>>>(out);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 32; ++i) {
    const int applied = i % 2 ? i * i : -i;
    CHECK(got[i] == 2 * (3 * i + moved + (i % 4 + 1) + i + applied));
  }
  int end = 0;
  CHECK(cudaMemcpyFromSymbol(&end, total, sizeof end) == cudaSuccess);
  CHECK(end == begin + 32);
  CHECK(answer == 12);
  CHECK(cudaFree(out) == cudaSuccess);
  printf("passed\n");
}
