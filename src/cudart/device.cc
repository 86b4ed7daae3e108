// Devices: what they are said to be. The CPU is a device of compute capability 8.0, as its kernels are told.
#include <algorithm>
#include <cstring>
#include <map>

#include "cudart/stream.h"

using namespace trine::cudart;

namespace {

constexpr int kMajor = 8, kMinor = 0;

void need_device(int device) { need(device >= 0 && device < machine().devices, cudaErrorInvalidDevice); }

cudaDeviceProp properties_of(int device) {
  const auto machine_says = machine().table->properties(device);
  cudaDeviceProp p = {};
  std::strncpy(p.name, machine_says.name.c_str(), sizeof p.name - 1);
  p.totalGlobalMem = machine_says.memory_bytes;
  p.multiProcessorCount = machine_says.compute_units;
  p.l2CacheSize = static_cast<int>(std::min<size_t>(machine_says.cache_bytes, INT32_MAX));
  p.integrated = p.pageableMemoryAccess = p.directManagedMemAccessFromHost = machine_says.unified_memory;
  p.hostNativeAtomicSupported = p.canUseHostPointerForRegisteredMem = machine_says.unified_memory;
  p.pageableMemoryAccessUsesHostPageTables = machine_says.unified_memory;
  p.major = kMajor;
  p.minor = kMinor;
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerBlockOptin = 227 << 10;
  p.sharedMemPerMultiprocessor = 228 << 10;
  p.reservedSharedMemPerBlock = 1 << 10;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = INT32_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.memPitch = INT32_MAX;
  p.totalConstMem = 64 << 10;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  p.clockRate = 1'000'000;  // kHz
  p.memoryClockRate = 1'000'000;
  p.memoryBusWidth = 64;
  p.asyncEngineCount = p.deviceOverlap = p.concurrentKernels = 1;
  p.canMapHostMemory = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess = 1;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.cooperativeLaunch = p.memoryPoolsSupported = p.hostRegisterSupported = p.computePreemptionSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  return p;
}

struct Attribute {
  cudaDeviceAttr id;
  int (*value)(const cudaDeviceProp& p);
};
#define TRINE_ATTRIBUTE(id, field) {id, [](const cudaDeviceProp& p) { return static_cast<int>(p.field); }}
const Attribute kAttributes[] = {
    TRINE_ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock),
    TRINE_ATTRIBUTE(cudaDevAttrMaxBlockDimX, maxThreadsDim[0]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxBlockDimY, maxThreadsDim[1]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxGridDimX, maxGridSize[0]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxGridDimY, maxGridSize[1]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxGridDimZ, maxGridSize[2]),
    TRINE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock),
    TRINE_ATTRIBUTE(cudaDevAttrTotalConstantMemory, totalConstMem),
    TRINE_ATTRIBUTE(cudaDevAttrWarpSize, warpSize),
    TRINE_ATTRIBUTE(cudaDevAttrMaxPitch, memPitch),
    TRINE_ATTRIBUTE(cudaDevAttrMaxRegistersPerBlock, regsPerBlock),
    TRINE_ATTRIBUTE(cudaDevAttrClockRate, clockRate),
    TRINE_ATTRIBUTE(cudaDevAttrTextureAlignment, textureAlignment),
    TRINE_ATTRIBUTE(cudaDevAttrTexturePitchAlignment, texturePitchAlignment),
    TRINE_ATTRIBUTE(cudaDevAttrGpuOverlap, deviceOverlap),
    TRINE_ATTRIBUTE(cudaDevAttrMultiProcessorCount, multiProcessorCount),
    TRINE_ATTRIBUTE(cudaDevAttrKernelExecTimeout, kernelExecTimeoutEnabled),
    TRINE_ATTRIBUTE(cudaDevAttrIntegrated, integrated),
    TRINE_ATTRIBUTE(cudaDevAttrCanMapHostMemory, canMapHostMemory),
    TRINE_ATTRIBUTE(cudaDevAttrComputeMode, computeMode),
    TRINE_ATTRIBUTE(cudaDevAttrConcurrentKernels, concurrentKernels),
    TRINE_ATTRIBUTE(cudaDevAttrEccEnabled, ECCEnabled),
    TRINE_ATTRIBUTE(cudaDevAttrPciBusId, pciBusID),
    TRINE_ATTRIBUTE(cudaDevAttrPciDeviceId, pciDeviceID),
    TRINE_ATTRIBUTE(cudaDevAttrPciDomainId, pciDomainID),
    TRINE_ATTRIBUTE(cudaDevAttrTccDriver, tccDriver),
    TRINE_ATTRIBUTE(cudaDevAttrMemoryClockRate, memoryClockRate),
    TRINE_ATTRIBUTE(cudaDevAttrGlobalMemoryBusWidth, memoryBusWidth),
    TRINE_ATTRIBUTE(cudaDevAttrL2CacheSize, l2CacheSize),
    TRINE_ATTRIBUTE(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    TRINE_ATTRIBUTE(cudaDevAttrAsyncEngineCount, asyncEngineCount),
    TRINE_ATTRIBUTE(cudaDevAttrUnifiedAddressing, unifiedAddressing),
    TRINE_ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, major),
    TRINE_ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, minor),
    TRINE_ATTRIBUTE(cudaDevAttrStreamPrioritiesSupported, streamPrioritiesSupported),
    TRINE_ATTRIBUTE(cudaDevAttrGlobalL1CacheSupported, globalL1CacheSupported),
    TRINE_ATTRIBUTE(cudaDevAttrLocalL1CacheSupported, localL1CacheSupported),
    TRINE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
    TRINE_ATTRIBUTE(cudaDevAttrMaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    TRINE_ATTRIBUTE(cudaDevAttrManagedMemory, managedMemory),
    TRINE_ATTRIBUTE(cudaDevAttrIsMultiGpuBoard, isMultiGpuBoard),
    TRINE_ATTRIBUTE(cudaDevAttrMultiGpuBoardGroupID, multiGpuBoardGroupID),
    TRINE_ATTRIBUTE(cudaDevAttrHostNativeAtomicSupported, hostNativeAtomicSupported),
    TRINE_ATTRIBUTE(cudaDevAttrSingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    TRINE_ATTRIBUTE(cudaDevAttrPageableMemoryAccess, pageableMemoryAccess),
    TRINE_ATTRIBUTE(cudaDevAttrConcurrentManagedAccess, concurrentManagedAccess),
    TRINE_ATTRIBUTE(cudaDevAttrComputePreemptionSupported, computePreemptionSupported),
    TRINE_ATTRIBUTE(cudaDevAttrCanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
    TRINE_ATTRIBUTE(cudaDevAttrCooperativeLaunch, cooperativeLaunch),
    TRINE_ATTRIBUTE(cudaDevAttrCooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
    TRINE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
    TRINE_ATTRIBUTE(cudaDevAttrHostRegisterSupported, hostRegisterSupported),
    TRINE_ATTRIBUTE(cudaDevAttrPageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
    TRINE_ATTRIBUTE(cudaDevAttrDirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    TRINE_ATTRIBUTE(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    TRINE_ATTRIBUTE(cudaDevAttrMaxPersistingL2CacheSize, persistingL2CacheMaxSize),
    TRINE_ATTRIBUTE(cudaDevAttrMaxAccessPolicyWindowSize, accessPolicyMaxWindowSize),
    TRINE_ATTRIBUTE(cudaDevAttrReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
    TRINE_ATTRIBUTE(cudaDevAttrMemoryPoolsSupported, memoryPoolsSupported),
    TRINE_ATTRIBUTE(cudaDevAttrClusterLaunch, clusterLaunch),
};
#undef TRINE_ATTRIBUTE

std::mutex limits_mutex;
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};  // by cudaLimit
std::atomic<unsigned> device_flags{0};

}  // namespace

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&] {
    need(version);
    *version = CUDART_VERSION;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    need(count);
    *count = 0;
    *count = machine().devices;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call([&] {
    need(device);
    *device = current_device();
  });
}
cudaError_t cudaSetDevice(int device) {
  return call([&] {
    need_device(device);
    current_device() = device;
  });
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&] { device_flags = flags; });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call([&] {
    need(flags);
    *flags = device_flags | cudaDeviceMapHost;
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return call([&] {
    need(device && wanted);
    machine();
    *device = 0;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return call([&] {
    need(out);
    need_device(device);
    *out = properties_of(device);
  });
}
cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr attribute, int device) {
  return call([&] {
    need(out);
    need_device(device);
    const auto row = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                  [&](const Attribute& a) { return a.id == attribute; });
    need(row != std::end(kAttributes));
    *out = row->value(properties_of(device));
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  return call([&] {
    constexpr char kText[] = "0000:00:00.0";
    need(out && bytes >= static_cast<int>(sizeof kText));
    need_device(device);
    std::memcpy(out, kText, sizeof kText);
  });
}

// Handles of the program stay valid, unlike on a GPU; a failed device works again.
cudaError_t cudaDeviceReset() {
  const cudaError_t before = sticky_error();
  clear_sticky_error();
  if (before == cudaSuccess) return cudaDeviceSynchronize();
  return call([] { restart_streams(); });
}
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] {
    need(limit >= 0 && static_cast<size_t>(limit) < std::size(limits), cudaErrorUnsupportedLimit);
    const std::lock_guard lock(limits_mutex);
    limits[limit] = value;
  });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&] {
    need(value);
    need(limit >= 0 && static_cast<size_t>(limit) < std::size(limits), cudaErrorUnsupportedLimit);
    const std::lock_guard lock(limits_mutex);
    *value = limits[limit];
  });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return call([] {});
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call([&] {
    need(config);
    *config = cudaFuncCachePreferNone;
  });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call([] {});
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* out, int device, int peer) {
  return call([&] {
    need(out);
    need_device(device);
    need_device(peer);
    *out = 0;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&] {
    need(flags == 0);
    need_device(peer);
    need(peer != current_device(), cudaErrorInvalidDevice);
    fail(cudaErrorPeerAccessUnsupported);
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&] {
    need_device(peer);
    fail(cudaErrorPeerAccessNotEnabled);
  });
}
// Memory that is freed in the order of a stream is freed at once: a pool keeps nothing.
struct CUmemPoolHandle_st {
  std::map<int, uint64_t> values;
};

namespace {
CUmemPoolHandle_st pool;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return call([&] {
    need(out);
    need_device(device);
    *out = &pool;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) { return cudaDeviceGetDefaultMemPool(out, device); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t which, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    need(which == &pool && value);
    const bool wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    pool.values[attribute] = wide ? *static_cast<uint64_t*>(value) : static_cast<uint64_t>(*static_cast<int*>(value));
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t which, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    need(which == &pool && value);
    if (attribute >= cudaMemPoolAttrReleaseThreshold) *static_cast<uint64_t*>(value) = pool.values[attribute];
    else *static_cast<int*>(value) = static_cast<int>(pool.values[attribute]);
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t which, size_t) {
  return call([&] { need(which == &pool); });
}
