#include "parts.h"

__device__ int scale(int x) { return 3 * x; }

template <class T>
__device__ T half_of(T x) {
  return x / 2;
}
template __device__ int half_of<int>(int x);

static __device__ int negative(int x) { return -x; }
static __device__ int square(int x) { return x * x; }
__device__ int (*const kFunctions[])(int) = {negative, square};
__device__ int apply(int which, int x) { return kFunctions[which](x); }
