// What C++ a kernel may have: virtual functions, pointers to functions, templates of shared memory, inline PTX, scans
// by shuffles, tiles and coalesced groups, printf, occupancy and attributes of kernels.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

#define CHECK(what) \
  if (!(what)) return printf("failed: %s, line %d: %s\n", #what, __LINE__, cudaGetErrorString(cudaGetLastError())), 1

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Bar : Shape {
  int length;
  __device__ explicit Bar(int l) : length(l) {}
  __device__ int area() const override { return 2 * length; }
};

__global__ void areas(int* out) {
  const int i = threadIdx.x;
  Shape* shape = i % 2 ? static_cast<Shape*>(new Square(i)) : new Bar(i);
  out[i] = shape->area();
  delete shape;
}

using Function = float (*)(float);
__device__ float half(float x) { return x / 2; }
__device__ float square(float x) { return x * x; }
__device__ Function table[] = {half, square};
__global__ void call(Function f, float* x) { x[threadIdx.x] = f(x[threadIdx.x]); }

// extern __shared__ has one type in a program: templates take it through a struct for each.
template <class T>
struct Shared {
  __device__ operator T*() {
    extern __shared__ __align__(16) unsigned char memory[];
    return reinterpret_cast<T*>(memory);
  }
};
template <class T>
__global__ void reversed(T* x, int n) {
  T* all = Shared<T>();
  all[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = all[n - 1 - threadIdx.x];
}

__global__ void scan(const int* in, int* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ int sums[32];
  int value = in[threadIdx.x];
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value += before;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int w = 0; w < warp; ++w) value += sums[w];
  out[threadIdx.x] = value;
}

__global__ void groups(int* tiles, int* odd, unsigned* lanes) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int sum = cg::reduce(tile, static_cast<int>(block.thread_rank()), cg::plus<int>());
  if (tile.thread_rank() == 0) tiles[block.thread_rank() / 8] = sum;
  if (threadIdx.x % 2) {
    const cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(odd, static_cast<int>(active.size()));
  }
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned both;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(both) : "r"(lane), "r"(3u), "r"(5u));
  lanes[threadIdx.x] = both;
  if (threadIdx.x == 3) printf("thread %d of %s, %.2f\n", threadIdx.x, "groups", 1.5);
}

template <class T>
int reverse_test() {
  constexpr int n = 96;
  T x[n], *there;
  for (int i = 0; i < n; ++i) x[i] = static_cast<T>(i);
  cudaMalloc(&there, sizeof x);
  cudaMemcpy(there, x, sizeof x, cudaMemcpyHostToDevice);
  CHECK(cudaFuncSetAttribute(reversed<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) == cudaSuccess);
  reversed<T><<<1, n, 64 << 10>>>(there, n);
  CHECK(cudaMemcpy(x, there, sizeof x, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < n; ++i) CHECK(x[i] == static_cast<T>(n - 1 - i));
  return cudaFree(there);
}

int occupancy_test() {
  int grid = 0, block = 0, blocks = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scan) == cudaSuccess && block % 32 == 0 && grid > 0);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scan, 256, 0) == cudaSuccess && blocks > 0);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, scan) == cudaSuccess);
  CHECK(attributes.sharedSizeBytes == 128 && attributes.maxThreadsPerBlock == 1024);
  return 0;
}

int main() {
  int *out, got[128];
  cudaMalloc(&out, sizeof got);
  areas<<<1, 32>>>(out);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 32; ++i) CHECK(got[i] == (i % 2 ? i * i : 2 * i));

  Function f[2];
  float x[32], *there;
  CHECK(cudaMemcpyFromSymbol(f, table, sizeof f) == cudaSuccess);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  cudaMalloc(&there, sizeof x);
  cudaMemcpy(there, x, sizeof x, cudaMemcpyHostToDevice);
  call<<<1, 32>>>(f[1], there);
  call<<<1, 32>>>(f[0], there);
  CHECK(cudaMemcpy(x, there, sizeof x, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 32; ++i) CHECK(x[i] == i * i / 2.0f);

  if (reverse_test<int>() || reverse_test<double>() || reverse_test<char>() || occupancy_test()) return 1;

  int ones[128], *in;
  for (int& one : ones) one = 1;
  cudaMalloc(&in, sizeof ones);
  cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
  scan<<<1, 128>>>(in, out);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 128; ++i) CHECK(got[i] == i + 1);

  int *odd, odds = 0;
  unsigned *lanes, found[64];
  cudaMalloc(&odd, sizeof(int));
  cudaMalloc(&lanes, sizeof found);
  cudaMemset(odd, 0, sizeof(int));
  groups<<<1, 64>>>(out, odd, lanes);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaMemcpy(&odds, odd, sizeof odds, cudaMemcpyDeviceToHost);
  cudaMemcpy(found, lanes, sizeof found, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 8; ++t) CHECK(got[t] == 64 * t + 28);
  CHECK(odds == 32);
  for (unsigned i = 0; i < 64; ++i) CHECK(found[i] == i % 32 * 3 + 5);
  for (void* memory : {(void*)out, (void*)there, (void*)in, (void*)odd, (void*)lanes}) cudaFree(memory);
  printf("passed\n");
}
