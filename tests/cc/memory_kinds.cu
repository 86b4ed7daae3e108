// Mapped, registered, managed, pitched and stream-ordered memory; copies in two and three dimensions; symbols; peers.
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(what) \
  if (!(what)) return printf("failed: %s, line %d: %s\n", #what, __LINE__, cudaGetErrorString(cudaGetLastError())), 1
#define OK(call) CHECK((call) == cudaSuccess)

__constant__ float factors[16];
__device__ int last;

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factors[i % 16];
  if (i == n - 1) last = i;
}
__global__ void fill(char* base, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) reinterpret_cast<int*>(base + y * pitch)[x] = 100 * y + x;
}

int host_memory(cudaStream_t stream) {
  constexpr int n = 1000;
  float *mapped, *seen, values[16];
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i);
  OK(cudaMemcpyToSymbolAsync(factors, values, sizeof values, 0, cudaMemcpyHostToDevice, stream));
  OK(cudaHostAlloc(&mapped, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocWriteCombined));
  OK(cudaHostGetDevicePointer(&seen, mapped, 0));
  for (int i = 0; i < n; ++i) mapped[i] = 2;
  scale<<<(n + 127) / 128, 128, 0, stream>>>(seen, n);
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) CHECK(mapped[i] == 2 * (i % 16));
  int end = 0;
  OK(cudaMemcpyFromSymbolAsync(&end, last, sizeof end, 0, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(end == n - 1);
  cudaPointerAttributes what;
  OK(cudaPointerGetAttributes(&what, mapped));
  CHECK(what.type == cudaMemoryTypeHost && what.devicePointer == seen);
  OK(cudaFreeHost(mapped));
  std::vector<float> own(n, 1);
  OK(cudaHostRegister(own.data(), n * sizeof(float), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&seen, own.data(), 0));
  scale<<<(n + 127) / 128, 128>>>(seen, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(own[i] == i % 16);
  OK(cudaHostUnregister(own.data()));
  return 0;
}

int managed_memory(cudaStream_t stream) {
  float* x;
  OK(cudaMallocManaged(&x, 256 * sizeof(float)));
  for (int i = 0; i < 256; ++i) x[i] = 1;
  OK(cudaMemAdvise(x, 256 * sizeof(float), cudaMemAdviseSetPreferredLocation, 0));
  OK(cudaMemPrefetchAsync(x, 256 * sizeof(float), 0, stream));
  OK(cudaStreamAttachMemAsync(stream, x));
  scale<<<2, 128, 0, stream>>>(x, 256);
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 256; ++i) CHECK(x[i] == i % 16);
  return cudaFree(x);
}

int pitched_memory() {
  constexpr int kWidth = 37, kHeight = 11, kDepth = 3;
  char* rows;
  size_t pitch;
  OK(cudaMallocPitch(&rows, &pitch, kWidth * sizeof(int), kHeight));
  CHECK(pitch >= kWidth * sizeof(int));
  fill<<<dim3(2, kHeight), 32>>>(rows, pitch, kWidth, kHeight);
  int flat[kHeight][kWidth];
  OK(cudaMemcpy2D(flat, sizeof flat[0], rows, pitch, sizeof flat[0], kHeight, cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) CHECK(flat[y][x] == 100 * y + x);
  OK(cudaFree(rows));

  static int solid[kDepth][kHeight][kWidth], back[kDepth][kHeight][kWidth];
  for (int i = 0; i < kDepth * kHeight * kWidth; ++i) (&solid[0][0][0])[i] = i;
  cudaPitchedPtr there;
  OK(cudaMalloc3D(&there, make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth)));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(solid, kWidth * sizeof(int), kWidth, kHeight);
  p.dstPtr = there;
  p.extent = make_cudaExtent(kWidth * sizeof(int), kHeight, kDepth);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  std::memset(back, -1, sizeof back);
  p.srcPtr = there;
  p.dstPtr = make_cudaPitchedPtr(back, kWidth * sizeof(int), kWidth, kHeight);
  p.srcPos = p.dstPos = make_cudaPos(sizeof(int), 2, 1);  // a part of it
  p.extent = make_cudaExtent((kWidth - 2) * sizeof(int), kHeight - 3, kDepth - 1);
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  for (int z = 0; z < kDepth; ++z)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const bool copied = z >= 1 && y >= 2 && y < kHeight - 1 && x >= 1 && x < kWidth - 1;
        CHECK(back[z][y][x] == (copied ? solid[z][y][x] : -1));
      }
  return cudaFree(there.ptr);
}

int stream_ordered(cudaStream_t stream) {
  cudaMemPool_t pool;
  unsigned long long threshold = ~0ull, said = 0;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &said));
  CHECK(said == threshold);
  std::vector<float> ones(500, 1), got(500);
  for (int round = 0; round < 3; ++round) {
    float* x;
    OK(cudaMallocAsync(&x, 500 * sizeof(float), stream));
    OK(cudaMemcpyAsync(x, ones.data(), 500 * sizeof(float), cudaMemcpyHostToDevice, stream));
    scale<<<4, 128, 0, stream>>>(x, 500);
    OK(cudaMemcpyAsync(got.data(), x, 500 * sizeof(float), cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(x, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 500; ++i) CHECK(got[i] == i % 16);
  }
  OK(cudaMemPoolTrimTo(pool, 0));
  return 0;
}

// Everything on each device that there is, and copies between neighbours.
int devices() {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  std::vector<int*> there(count);
  for (int d = 0; d < count; ++d) {
    OK(cudaSetDevice(d));
    OK(cudaMalloc(&there[d], sizeof(int)));
    const int value = 10 + d;
    OK(cudaMemcpy(there[d], &value, sizeof value, cudaMemcpyHostToDevice));
    for (int other = 0; other < count; ++other) {
      int can = -1;
      OK(cudaDeviceCanAccessPeer(&can, d, other));
      CHECK(can == 0 || can == 1);
      if (other == d) CHECK(can == 0);
    }
  }
  for (int d = 0; d + 1 < count; ++d) OK(cudaMemcpyPeer(there[d + 1], d + 1, there[d], d, sizeof(int)));
  int end = 0;
  OK(cudaMemcpy(&end, there[count - 1], sizeof end, cudaMemcpyDeviceToHost));
  CHECK(end == (count > 1 ? 10 : 10 + count - 1));
  for (int* x : there) OK(cudaFree(x));
  OK(cudaSetDevice(0));
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled && cudaGetLastError() != cudaSuccess);
  CHECK(cudaSetDevice(count) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
  return 0;
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  if (host_memory(stream) || managed_memory(stream) || pitched_memory() || stream_ordered(stream) || devices())
    return 1;
  OK(cudaStreamDestroy(stream));
  printf("passed\n");
}
