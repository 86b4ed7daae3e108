// The driver API over the runtime's: a context is a device, a module a program loaded by hand, a function a kernel that
// is registered as the compiler's are. Codes of errors are the same numbers.
#include <cuda.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "cudart/memory.h"
#include "cudart/programs.h"
#include "cudart/stream.h"

using namespace trine::cudart;

struct CUctx_st {
  CUdevice device;
};

namespace {

CUresult code(cudaError_t error) { return static_cast<CUresult>(error); }
template <class Body>
CUresult driver_call(const Body& body) {
  return code(call(body));
}
void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
const void* at_const(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }

// Contexts are those of devices, and are never gone.
CUctx_st* context_of(CUdevice device) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<CUctx_st>>& all = *new std::vector<std::unique_ptr<CUctx_st>>;
  need(device >= 0 && device < machine().devices, cudaErrorInvalidDevice);
  const std::lock_guard lock(mutex);
  while (all.size() <= static_cast<size_t>(device)) all.push_back(std::make_unique<CUctx_st>(int(all.size())));
  return all[static_cast<size_t>(device)].get();
}

// Every value in a packed buffer of parameters (CU_LAUNCH_PARAM_BUFFER_POINTER).
std::vector<void*> packed(const void* function, void** extra) {
  char* buffer = nullptr;
  for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2)
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[i + 1]);
  need(buffer);
  std::vector<void*> pointers;
  for (const auto& parameter : kernel_of(function).info->parameters) pointers.push_back(buffer + parameter.offset);
  pointers.push_back(nullptr);
  return pointers;
}

void fill_words(CUdeviceptr to, unsigned value, size_t count) {
  const std::vector<unsigned> words(count, value);
  if (const cudaError_t error = cudaMemcpy(at(to), words.data(), count * sizeof value, cudaMemcpyHostToDevice))
    fail(error);
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return driver_call([&] {
    need(flags == 0);
    machine();
  });
}
CUresult cuDriverGetVersion(int* version) { return code(cudaDriverGetVersion(version)); }
CUresult cuGetErrorName(CUresult error, const char** text) {
  *text = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) { return code(cudaGetDeviceCount(count)); }
CUresult cuDeviceGet(CUdevice* out, int number) {
  return driver_call([&] {
    need(out);
    *out = context_of(number)->device;
  });
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  cudaDeviceProp p;
  const cudaError_t error = cudaGetDeviceProperties(&p, device);
  if (error == cudaSuccess && name && bytes > 0) std::snprintf(name, static_cast<size_t>(bytes), "%s", p.name);
  return code(error);
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return code(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return driver_call([&] {
    need(bytes);
    *bytes = machine().table->properties(context_of(device)->device).memory_bytes;
  });
}

CUresult cuCtxCreate(CUcontext* out, unsigned, CUdevice device) {
  return driver_call([&] {
    need(out);
    *out = context_of(device);
    current_device() = device;
  });
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return driver_call([&] {
    need(out);
    *out = context_of(device);
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return driver_call([&] { context_of(device); });
}
CUresult cuCtxDestroy(CUcontext context) {
  return driver_call([&] { need(context, cudaErrorDeviceUninitialized); });
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call([&] {
    if (context) current_device() = context->device;
  });
}
CUresult cuCtxGetCurrent(CUcontext* out) {
  return driver_call([&] {
    need(out);
    *out = context_of(current_device());
  });
}
CUresult cuCtxGetDevice(CUdevice* device) { return code(cudaGetDevice(device)); }
CUresult cuCtxSynchronize() { return code(cudaDeviceSynchronize()); }

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return driver_call([&] {
    need(out && image);
    *out = static_cast<CUmodule>(load_module(image));
  });
}
CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(out, image);
}
// Kernels of it may still be launched: it stays until the program ends.
CUresult cuModuleUnload(CUmodule module) {
  return driver_call([&] { need(module, cudaErrorInvalidResourceHandle); });
}
CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return driver_call([&] {
    need(out && module && name);
    *out = reinterpret_cast<CUfunction>(const_cast<void*>(function_of_module(module, name)));
  });
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return driver_call([&] {
    need(module && name);
    const auto variable = variable_of_module(module, name);
    if (address) *address = reinterpret_cast<CUdeviceptr>(variable.address);
    if (bytes) *bytes = variable.bytes;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, CUstream stream, void** parameters, void** extra) {
  std::vector<void*> pointers;
  if (extra) {
    const CUresult error = driver_call([&] { pointers = packed(function, extra); });
    if (error != CUDA_SUCCESS) return error;
    parameters = pointers.data();
  }
  return code(cudaLaunchKernel(function, dim3(gx, gy, gz), dim3(bx, by, bz), parameters, shared_bytes, stream));
}

CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) { return code(cudaMalloc(reinterpret_cast<void**>(out), bytes)); }
CUresult cuMemFree(CUdeviceptr address) { return code(cudaFree(at(address))); }
CUresult cuMemGetInfo(size_t* free, size_t* total) { return code(cudaMemGetInfo(free, total)); }
CUresult cuMemAllocHost(void** out, size_t bytes) { return code(cudaMallocHost(out, bytes)); }
CUresult cuMemFreeHost(void* memory) { return code(cudaFreeHost(memory)); }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return code(cudaMemcpy(at(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return code(cudaMemcpy(to, at_const(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return code(cudaMemcpy(at(to), at_const(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return code(cudaMemcpyAsync(at(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return code(cudaMemcpyAsync(to, at_const(from), bytes, cudaMemcpyDeviceToHost, stream));
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return code(cudaMemset(at(to), value, count));
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return driver_call([&] { fill_words(to, value, count); });
}

CUresult cuStreamCreate(CUstream* out, unsigned flags) { return code(cudaStreamCreateWithFlags(out, flags)); }
CUresult cuStreamSynchronize(CUstream stream) { return code(cudaStreamSynchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) { return code(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return code(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuStreamDestroy(CUstream stream) { return code(cudaStreamDestroy(stream)); }
CUresult cuEventCreate(CUevent* out, unsigned flags) { return code(cudaEventCreateWithFlags(out, flags)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return code(cudaEventRecord(event, stream)); }
CUresult cuEventSynchronize(CUevent event) { return code(cudaEventSynchronize(event)); }
CUresult cuEventQuery(CUevent event) { return code(cudaEventQuery(event)); }
CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return code(cudaEventElapsedTime(ms, begin, end));
}
CUresult cuEventDestroy(CUevent event) { return code(cudaEventDestroy(event)); }
}
