// The runtime API against the library itself: what needs no kernel.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

std::vector<unsigned char> random_bytes(size_t count) {
  static const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

void* allocated(size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  return memory;
}

TEST(Errors, HaveCudasNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(Errors, AreKeptUntilTheyAreTaken) {
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Memory, OfTheProgramIsRegistered) {
  std::vector<char> own(100);
  char* there = nullptr;
  unsigned flags = 0;
  void* pinned = nullptr;
  EXPECT_EQ(cudaHostRegister(nullptr, 1, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(own.data(), 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(own.data(), 1, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(own.data(), 1, cudaHostRegisterIoMemory), cudaErrorNotSupported);
  EXPECT_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  ASSERT_EQ(cudaHostRegister(own.data() + 10, 50, cudaHostRegisterPortable | cudaHostRegisterReadOnly), cudaSuccess);
  for (const int begin : {0, 10, 59})
    EXPECT_EQ(cudaHostRegister(own.data() + begin, 11, 0), cudaErrorHostMemoryAlreadyRegistered) << begin;
  EXPECT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&there), own.data() + 20, 0), cudaSuccess);
  EXPECT_EQ(there, own.data() + 20);
  EXPECT_EQ(cudaHostGetFlags(&flags, own.data() + 10), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaHostAllocPortable | cudaHostAllocMapped});
  cudaPointerAttributes a;
  EXPECT_EQ(cudaPointerGetAttributes(&a, own.data() + 59), cudaSuccess);
  EXPECT_EQ(a.type, cudaMemoryTypeHost);
  EXPECT_EQ(a.devicePointer, own.data() + 59);
  EXPECT_EQ(cudaHostUnregister(own.data() + 11), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaFreeHost(own.data() + 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(own.data() + 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(own.data() + 60, 40, 0), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(own.data() + 60), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(own.data() + 10), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(own.data() + 10), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&there), own.data() + 20, 0), cudaErrorInvalidValue);
  ASSERT_EQ(cudaHostAlloc(&pinned, 8, 0), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pinned), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  while (cudaGetLastError() != cudaSuccess) {
  }
}

TEST(Memory, OfEverySizeIsCopiedThereAndBack) {
  for (size_t bytes : {1, 31, 32, 33, 96, 256, 1024, 100000}) {
    const std::vector<unsigned char> in = random_bytes(bytes);
    std::vector<unsigned char> out(bytes, 0xee);
    void *a = allocated(bytes), *b = allocated(bytes);
    EXPECT_EQ(cudaMemcpy(a, in.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(b, a, bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(out.data(), b, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(in, out);
    EXPECT_EQ(cudaMemcpy(a, in.data(), bytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(a), cudaSuccess);
    EXPECT_EQ(cudaFree(a), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(b), cudaSuccess);
  }
  void* none = &none;
  EXPECT_EQ(cudaMalloc(&none, 0), cudaSuccess);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&none, &none, 1, static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
}

TEST(Memory, ThatIsFreeCountsDownAndUp) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* memory = allocated(1 << 20);
  cudaMemGetInfo(&during, &total);
  cudaFree(memory);
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(before - during, size_t{1} << 20);
  EXPECT_EQ(before, after);
}

TEST(Memory, SaysWhatItIs) {
  char* device = static_cast<char*>(allocated(64));
  void *host = nullptr, *managed = nullptr;
  int local = 0;
  cudaHostAlloc(&host, 64, 0);
  cudaMallocManaged(&managed, 64, cudaMemAttachGlobal);
  cudaPointerAttributes a;
  cudaPointerGetAttributes(&a, device + 63);
  EXPECT_EQ(a.type, cudaMemoryTypeDevice);
  EXPECT_EQ(a.devicePointer, device + 63);
  cudaPointerGetAttributes(&a, host);
  EXPECT_EQ(a.type, cudaMemoryTypeHost);
  cudaPointerGetAttributes(&a, managed);
  EXPECT_EQ(a.type, cudaMemoryTypeManaged);
  cudaPointerGetAttributes(&a, &local);
  EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(Copies, OfTwoDimensionsLeaveThePaddingAlone) {
  constexpr size_t kWidth = 5, kHeight = 7, kFrom = 8, kTo = 11;
  const std::vector<unsigned char> in = random_bytes(kFrom * kHeight);
  std::vector<unsigned char> out(kTo * kHeight, 0xee);
  void* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, kWidth, kHeight), cudaSuccess);
  EXPECT_GE(pitch, kWidth);
  ASSERT_EQ(cudaMemcpy2D(device, pitch, in.data(), kFrom, kWidth, kHeight, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(out.data(), kTo, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kTo; ++x) EXPECT_EQ(out[y * kTo + x], x < kWidth ? in[y * kFrom + x] : 0xee);
  EXPECT_EQ(cudaMemcpy2D(out.data(), 4, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  ASSERT_EQ(cudaMemset2D(device, pitch, 0x17, 3, kHeight), cudaSuccess);
  cudaMemcpy2D(out.data(), kTo, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost);
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kWidth; ++x) EXPECT_EQ(out[y * kTo + x], x < 3 ? 0x17 : in[y * kFrom + x]);
  cudaFree(device);
  cudaGetLastError();
}

TEST(Copies, OfThreeDimensionsTakeABox) {
  std::vector<int> in(4 * 3 * 2), out(in.size(), -1);
  std::iota(in.begin(), in.end(), 0);
  cudaMemcpy3DParms p = {};
  p.srcPtr = {in.data(), 4 * sizeof(int), 4, 3};
  p.dstPtr = {out.data(), 4 * sizeof(int), 4, 3};
  p.srcPos = {1 * sizeof(int), 1, 0};
  p.dstPos = {0, 0, 0};
  p.extent = {2 * sizeof(int), 2, 2};
  p.kind = cudaMemcpyHostToHost;
  ASSERT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x)
        EXPECT_EQ(out[(z * 3 + y) * 4 + x], x < 2 && y < 2 ? in[(z * 3 + y + 1) * 4 + x + 1] : -1);
}

TEST(Devices, AreWhatKernelsAreTold) {
  int count = 0, value = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.major, 8);
  EXPECT_EQ(p.sharedMemPerBlock, 49152u);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  EXPECT_EQ(value, 227 << 10);
  EXPECT_EQ(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST(Streams, ThatAreNoneAreRefused) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100), cudaSuccess);
  int priority = 1;
  unsigned flags = 0;
  cudaStreamGetPriority(stream, &priority);
  cudaStreamGetFlags(stream, &flags);
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(Events, TellTimeOnlyWhenTheyMay) {
  cudaEvent_t a, b, untimed;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle) << "not recorded";
  cudaEventRecord(a, nullptr);
  cudaEventRecord(b, nullptr);
  cudaEventRecord(untimed, nullptr);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(b), cudaSuccess);
  for (cudaEvent_t event : {a, b, untimed}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  cudaGetLastError();
}

TEST(Capture, KeepsWorkForGraphs) {
  unsigned char* memory = static_cast<unsigned char*>(allocated(16));
  cudaMemset(memory, 0, 16);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaMemsetAsync(memory, 7, 16, stream), cudaSuccess);
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(stream, &status);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  unsigned char seen = 0xee;
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaMemcpy(&seen, memory, 1, cudaMemcpyDeviceToHost);
  EXPECT_EQ(seen, 0) << "it was kept, not done";
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  cudaMemcpy(&seen, memory, 1, cudaMemcpyDeviceToHost);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  cudaStreamDestroy(stream);
  cudaFree(memory);
}

TEST(Graphs, RunNodesInTheOrderOfTheirDependencies) {
  std::vector<int> order;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  struct Note {
    std::vector<int>* order;
    int value;
  } notes[3] = {{&order, 0}, {&order, 1}, {&order, 2}};
  cudaGraphNode_t nodes[3];
  for (int i = 0; i < 3; ++i) {
    const cudaHostNodeParams p = {[](void* data) {
                                    const Note& note = *static_cast<Note*>(data);
                                    note.order->push_back(note.value);
                                  },
                                  &notes[i]};
    ASSERT_EQ(cudaGraphAddHostNode(&nodes[i], graph, nullptr, 0, &p), cudaSuccess);
  }
  ASSERT_EQ(cudaGraphAddDependencies(graph, &nodes[2], &nodes[0], 1), cudaSuccess);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
  cudaGraphLaunch(exec, nullptr);
  cudaDeviceSynchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 0}));
  ASSERT_EQ(cudaGraphAddDependencies(graph, &nodes[0], &nodes[2], 1), cudaSuccess);
  cudaGraphExec_t none;
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&none, graph, 0), cudaErrorInvalidValue) << "a circle";
  cudaGetLastError();
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(Kernels, ThatAreNoneAreRefused) {
  const int none = 0;
  EXPECT_EQ(cudaLaunchKernel(&none, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &none), cudaErrorInvalidSymbol);
  cudaGetLastError();
}

}  // namespace
