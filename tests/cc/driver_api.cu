// Kernels compiled at run time by nvrtc.h and launched by the driver API.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(what) \
  if (!(what)) return printf("failed: %s, line %d\n", #what, __LINE__), 1
#define OK(call) CHECK((call) == 0)

const char* const kSource = R"(
#include "factor.h"
__device__ int calls;
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = FACTOR * a * x[i] + y[i];
  if (i == 0) atomicAdd(&calls, 1);
}
template <class T> __global__ void negate(T* x) { x[threadIdx.x] = -x[threadIdx.x]; }
)";

int main() {
  CUdevice device;
  CUcontext context;
  char name[100];
  int count = 0, major = 0;
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  CHECK(count >= 1);
  OK(cuDeviceGet(&device, 0));
  OK(cuDeviceGetName(name, sizeof name, device));
  CHECK(*name);
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(major >= 8);
  OK(cuCtxCreate(&context, 0, device));

  nvrtcProgram program;
  const char *header = "#define FACTOR 2\n", *header_name = "factor.h", *options[] = {"--std=c++17", "-arch=sm_80"};
  OK(nvrtcCreateProgram(&program, kSource, "saxpy.cu", 1, &header, &header_name));
  OK(nvrtcAddNameExpression(program, "negate<float>"));
  OK(nvrtcCompileProgram(program, 2, options));
  size_t bytes;
  const char* lowered;
  OK(nvrtcGetPTXSize(program, &bytes));
  std::vector<char> code(bytes);
  OK(nvrtcGetPTX(program, code.data()));
  OK(nvrtcGetLoweredName(program, "negate<float>", &lowered));
  CHECK(std::string(lowered) != "negate<float>");

  CUmodule module;
  CUfunction saxpy, negate, none;
  OK(cuModuleLoadData(&module, code.data()));
  OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  OK(cuModuleGetFunction(&negate, module, lowered));
  CHECK(cuModuleGetFunction(&none, module, "no_such") == CUDA_ERROR_NOT_FOUND);
  OK(nvrtcDestroyProgram(&program));
  code.clear();

  constexpr int n = 1000;
  std::vector<float> x(n), y(n, 1);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  CUdeviceptr dx, dy;
  OK(cuMemAlloc(&dx, n * sizeof(float)));
  OK(cuMemAlloc(&dy, n * sizeof(float)));
  OK(cuMemcpyHtoD(dx, x.data(), n * sizeof(float)));
  OK(cuMemcpyHtoD(dy, y.data(), n * sizeof(float)));
  float a = 3;
  int size = n;
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* arguments[] = {&a, &dx, &dy, &size};
  OK(cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  struct {  // the same, packed
    float a;
    CUdeviceptr x, y;
    int n;
  } block = {1, dx, dy, n};
  size_t block_bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
  void* pointer[] = {&dx};
  OK(cuLaunchKernel(negate, 1, 1, 1, 64, 1, 1, 0, stream, pointer, nullptr));
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(y.data(), dy, n * sizeof(float)));
  OK(cuMemcpyDtoH(x.data(), dx, n * sizeof(float)));
  for (int i = 0; i < n; ++i) CHECK(y[i] == 8.0f * i + 1 && x[i] == (i < 64 ? -i : i));

  CUdeviceptr calls;
  int called = 0;
  OK(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
  CHECK(bytes == sizeof called);
  OK(cuMemcpyDtoH(&called, calls, bytes));
  CHECK(called == 2);
  OK(cuMemsetD32(dx, 7, 10));
  int sevens[10];
  OK(cuMemcpyDtoH(sevens, dx, sizeof sevens));
  for (int seven : sevens) CHECK(seven == 7);

  OK(nvrtcCreateProgram(&program, "__global__ void k() { wrong; }", nullptr, 0, nullptr, nullptr));
  CHECK(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION);
  OK(nvrtcGetProgramLogSize(program, &bytes));
  std::string log(bytes, ' ');
  OK(nvrtcGetProgramLog(program, log.data()));
  CHECK(log.find("wrong") != std::string::npos);
  OK(nvrtcDestroyProgram(&program));
  CHECK(cuModuleLoadData(&module, "this is no code of a device, whatever it may be of") == CUDA_ERROR_INVALID_IMAGE);

  OK(cuMemFree(dx));
  OK(cuMemFree(dy));
  OK(cuStreamDestroy(stream));
  OK(cuCtxDestroy(context));
  printf("passed\n");
}
