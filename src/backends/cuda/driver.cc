#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "trine/base/env.h"

namespace trine::cuda {
namespace {

// Takes functions out of a library, and remembers the first that it lacks.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class F>
  void load(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    if (!function && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void load_devices(Api& api, Symbols& from) {
  from.load(api.device_count, "cuDeviceGetCount");
  from.load(api.device_get, "cuDeviceGet");
  from.load(api.device_name, "cuDeviceGetName");
  from.load(api.device_attribute, "cuDeviceGetAttribute");
  from.load(api.device_memory, "cuDeviceTotalMem_v2");
  from.load(api.device_pool, "cuDeviceGetDefaultMemPool");
  from.load(api.pool_set, "cuMemPoolSetAttribute");
  from.load(api.pool_trim, "cuMemPoolTrimTo");
  from.load(api.primary_retain, "cuDevicePrimaryCtxRetain");
  from.load(api.context_get, "cuCtxGetCurrent");
  from.load(api.context_set, "cuCtxSetCurrent");
  from.load(api.priority_range, "cuCtxGetStreamPriorityRange");
}

void load_memory(Api& api, Symbols& from) {
  from.load(api.memory_info, "cuMemGetInfo_v2");
  from.load(api.memory_allocate, "cuMemAlloc_v2");
  from.load(api.memory_free, "cuMemFree_v2");
  from.load(api.memory_allocate_async, "cuMemAllocAsync");
  from.load(api.memory_free_async, "cuMemFreeAsync");
  from.load(api.host_allocate, "cuMemHostAlloc");
  from.load(api.host_free, "cuMemFreeHost");
  from.load(api.host_register, "cuMemHostRegister_v2");
  from.load(api.host_unregister, "cuMemHostUnregister");
  from.load(api.host_address, "cuMemHostGetDevicePointer_v2");
  from.load(api.copy_to_device, "cuMemcpyHtoDAsync_v2");
  from.load(api.copy_to_host, "cuMemcpyDtoHAsync_v2");
  from.load(api.copy_on_device, "cuMemcpyDtoDAsync_v2");
  from.load(api.copy_3d, "cuMemcpy3DAsync_v2");
  from.load(api.copy_peer, "cuMemcpyPeerAsync");
  from.load(api.fill, "cuMemsetD8Async");
}

void load_streams(Api& api, Symbols& from) {
  from.load(api.stream_create, "cuStreamCreateWithPriority");
  from.load(api.stream_destroy, "cuStreamDestroy_v2");
  from.load(api.stream_synchronize, "cuStreamSynchronize");
  from.load(api.stream_query, "cuStreamQuery");
  from.load(api.stream_wait, "cuStreamWaitEvent");
  from.load(api.host_call, "cuLaunchHostFunc");
  from.load(api.event_create, "cuEventCreate");
  from.load(api.event_destroy, "cuEventDestroy_v2");
  from.load(api.event_record, "cuEventRecord");
  from.load(api.event_synchronize, "cuEventSynchronize");
  from.load(api.event_query, "cuEventQuery");
  from.load(api.event_milliseconds, "cuEventElapsedTime");
}

void load_kernels(Api& api, Symbols& from) {
  from.load(api.module_load, "cuModuleLoadDataEx");
  from.load(api.module_unload, "cuModuleUnload");
  from.load(api.module_function, "cuModuleGetFunction");
  from.load(api.module_global, "cuModuleGetGlobal_v2");
  from.load(api.function_get, "cuFuncGetAttribute");
  from.load(api.function_set, "cuFuncSetAttribute");
  from.load(api.most_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  from.load(api.launch, "cuLaunchKernel");
  from.load(api.launch_cooperative, "cuLaunchCooperativeKernel");
  from.load(api.launch_configured, "cuLaunchKernelEx");
  from.load(api.tensor_map_tiled, "cuTensorMapEncodeTiled");
  from.load(api.tensor_map_im2col, "cuTensorMapEncodeIm2col");
}

void load_graphs(Api& api, Symbols& from) {
  from.load(api.capture_begin, "cuStreamBeginCapture_v2");
  from.load(api.capture_end, "cuStreamEndCapture");
  from.load(api.capture_info, "cuStreamGetCaptureInfo_v2");
  from.load(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  from.load(api.graph_launch, "cuGraphLaunch");
  from.load(api.graph_update_kernel, "cuGraphExecKernelNodeSetParams_v2");
  from.load(api.graph_destroy, "cuGraphDestroy");
  from.load(api.graph_exec_destroy, "cuGraphExecDestroy");
}

void load_textures(Api& api, Symbols& from) {
  from.load(api.array_create, "cuArray3DCreate_v2");
  from.load(api.array_destroy, "cuArrayDestroy");
  from.load(api.mipmap_create, "cuMipmappedArrayCreate");
  from.load(api.mipmap_level, "cuMipmappedArrayGetLevel");
  from.load(api.mipmap_destroy, "cuMipmappedArrayDestroy");
  from.load(api.texture_create, "cuTexObjectCreate");
  from.load(api.texture_destroy, "cuTexObjectDestroy");
  from.load(api.surface_create, "cuSurfObjectCreate");
  from.load(api.surface_destroy, "cuSurfObjectDestroy");
}

const char* advice(Result result) {
  switch (result) {
    case kNoDevice: return "check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case kSystemNotReady: return "start nvidia-fabricmanager, or wait until it is ready";
    case kDriverMismatch: return "restart the machine after the driver's update, so that its parts are of one version";
    default: return "check with nvidia-smi that the driver works";
  }
}

// Empty when all is well.
std::string start(Driver& driver, const std::string& library, void* handle) {
  Api& api = driver.api;
  Symbols first(handle);  // an old driver is to be told from a broken one
  first.load(api.init, "cuInit");
  first.load(api.driver_version, "cuDriverGetVersion");
  first.load(api.error_name, "cuGetErrorName");
  first.load(api.error_string, "cuGetErrorString");
  if (!first.missing().empty()) return fmt::format("{} has no {}; give a CUDA driver", library, first.missing());
  if (const Result r = api.driver_version(&driver.version); r != kSuccess)
    return fmt::format("cuDriverGetVersion: {}; {}", words_of(api, r), advice(r));
  if (driver.version < kOldestDriver)
    return fmt::format("{} is of CUDA {}.{}; install a driver of CUDA {}.0 or later", library, driver.version / 1000,
                       driver.version % 1000 / 10, kOldestDriver / 1000);
  Symbols rest(handle);
  load_devices(api, rest);
  load_memory(api, rest);
  load_streams(api, rest);
  load_kernels(api, rest);
  load_graphs(api, rest);
  load_textures(api, rest);
  if (!rest.missing().empty())
    return fmt::format("{} has no {}; install a driver of CUDA {}.0 or later", library, rest.missing(),
                       kOldestDriver / 1000);
  if (const Result r = api.init(0); r != kSuccess) return fmt::format("cuInit: {}; {}", words_of(api, r), advice(r));
  if (const Result r = api.device_count(&driver.devices); r != kSuccess)
    return fmt::format("cuDeviceGetCount: {}; {}", words_of(api, r), advice(r));
  return driver.devices > 0 ? "" : fmt::format("the driver shows no device; {}", advice(kNoDevice));
}

}  // namespace

std::string words_of(const Api& api, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (api.error_name(result, &name) != kSuccess || !name) return fmt::format("CUDA error {}", result);
  if (api.error_string(result, &text) != kSuccess || !text) return name;
  return fmt::format("{} ({})", name, text);
}

Driver load_driver(const std::string& library) {
  Driver driver;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    driver.problem = fmt::format("no CUDA driver: {}", why ? why : library);
    return driver;
  }
  driver.problem = start(driver, library, handle);
  if (!driver.problem.empty()) driver.devices = 0;
  return driver;
}

const Driver& driver() {
  static const Driver loaded = load_driver(env_text("TRINE_CUDA_DRIVER"));
  return loaded;
}

}  // namespace trine::cuda
