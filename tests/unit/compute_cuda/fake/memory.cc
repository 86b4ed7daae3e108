// The driver that pretends: start, devices, contexts, memory.
#include <cstdlib>
#include <cstring>

#include "state.h"

namespace trine::fake {

State& state() {
  static State all;
  return all;
}

Settings& settings() { return state().settings; }

void reset() {
  State& s = state();
  s.settings = {};
  s.calls.clear();
  s.failures.clear();
  s.kernels.clear();
  s.lost = cuda::kSuccess;
  s.pooled_bytes = 0;
}

void fail(const std::string& function, cuda::Result result, int after, int times) {
  state().failures[function] = {result, after, times};
}
int calls(const std::string& function) { return state().calls[function]; }
void lose_context(cuda::Result result) { state().lost = result; }
size_t objects() { return state().objects; }

void define(const std::string& symbol, std::vector<size_t> parameter_bytes, std::function<void(const Launch&)> run) {
  state().kernels[symbol] = {std::move(parameter_bytes), std::move(run)};
}

size_t bytes_allocated() {
  size_t total = 0;
  for (const auto& [address, bytes] : state().memory) total += bytes;
  return total;
}

cuda::Result enter(const char* function, bool of_context) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.calls[function];
  if (const auto it = s.failures.find(function); it != s.failures.end()) {
    Failure& failure = it->second;
    if (failure.after > 0) --failure.after;
    else if (failure.times-- > 0) return failure.result;
  }
  return of_context ? s.lost : cuda::kSuccess;
}

bool inside(uint64_t address, size_t bytes) {
  auto it = state().memory.upper_bound(address);
  if (it != state().memory.begin()) --it;
  const bool good = it != state().memory.end() && address >= it->first && address + bytes <= it->first + it->second;
  if (!good) lose_context(cuda::kIllegalAddress);
  return good;
}

namespace {

cuda::Context the_context(int device) { return reinterpret_cast<cuda::Context>(uintptr_t{0x1000} + device); }
thread_local cuda::Context current = nullptr;

cuda::Result allocate(cuda::DevicePointer* memory, size_t bytes) {
  State& s = state();
  if (bytes_allocated() + s.pooled_bytes + bytes > s.settings.memory_bytes) return cuda::kOutOfMemory;
  void* host = std::malloc(bytes);
  std::memset(host, 0xa5, bytes);  // nobody may count on zeros
  *memory = reinterpret_cast<uint64_t>(host);
  s.memory[*memory] = bytes;
  return cuda::kSuccess;
}

cuda::Result release(cuda::DevicePointer memory, bool to_pool) {
  State& s = state();
  const auto it = s.memory.find(memory);
  if (it == s.memory.end()) return cuda::kInvalidValue;
  if (to_pool) s.pooled_bytes += it->second;
  std::free(reinterpret_cast<void*>(memory));
  s.memory.erase(it);
  return cuda::kSuccess;
}

}  // namespace

extern "C" {

cuda::Result cuInit(unsigned) { return enter("cuInit", false); }
cuda::Result cuDriverGetVersion(int* version) {
  *version = settings().version;
  return enter("cuDriverGetVersion", false);
}
cuda::Result cuGetErrorName(cuda::Result result, const char** name) {
  static const std::map<cuda::Result, const char*> names = {{cuda::kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                            {cuda::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                            {cuda::kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                            {cuda::kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                            {cuda::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                            {cuda::kSystemNotReady, "CUDA_ERROR_SYSTEM_NOT_READY"}};
  const auto it = names.find(result);
  *name = it == names.end() ? nullptr : it->second;
  return *name ? cuda::kSuccess : cuda::kInvalidValue;
}
cuda::Result cuGetErrorString(cuda::Result, const char** text) {
  *text = "its text";
  return cuda::kSuccess;
}

cuda::Result cuDeviceGetCount(int* count) {
  *count = settings().devices;
  return enter("cuDeviceGetCount", false);
}
cuda::Result cuDeviceGet(cuda::DeviceId* device, int ordinal) {
  *device = ordinal;
  return enter("cuDeviceGet", false);
}
cuda::Result cuDeviceGetName(char* name, int bytes, cuda::DeviceId device) {
  std::strncpy(name, device ? "Pretended GPU 1" : "Pretended GPU 0", static_cast<size_t>(bytes));
  return enter("cuDeviceGetName", false);
}
cuda::Result cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute, cuda::DeviceId) {
  const std::map<int, int> values = {{cuda::kThreadsPerBlock, 1024},
                                     {cuda::kBlockX, 1024},
                                     {cuda::kBlockX + 1, 1024},
                                     {cuda::kBlockX + 2, 64},
                                     {cuda::kGridX, 1 << 30},
                                     {cuda::kGridX + 1, 65535},
                                     {cuda::kGridX + 2, 65534},
                                     {cuda::kConstantBytes, 65536},
                                     {cuda::kWarpThreads, 32},
                                     {cuda::kRegistersPerBlock, 65536},
                                     {cuda::kCooperative, 1},
                                     {cuda::kMultiprocessors, 4},
                                     {cuda::kCacheBytes, 1 << 16},
                                     {cuda::kMajor, settings().major},
                                     {cuda::kMinor, settings().minor},
                                     {cuda::kSharedBytesOptIn, 232448},
                                     {cuda::kPoolsSupported, settings().pools}};
  *value = values.at(attribute);
  return enter("cuDeviceGetAttribute", false);
}
cuda::Result cuDeviceTotalMem_v2(size_t* bytes, cuda::DeviceId) {
  *bytes = settings().memory_bytes;
  return enter("cuDeviceTotalMem_v2", false);
}
cuda::Result cuDeviceGetDefaultMemPool(cuda::Pool* pool, cuda::DeviceId) {
  *pool = reinterpret_cast<cuda::Pool>(uintptr_t{0x2000});
  return enter("cuDeviceGetDefaultMemPool", false);
}
cuda::Result cuMemPoolSetAttribute(cuda::Pool, int attribute, void* value) {
  const bool known = attribute == cuda::kPoolKeepBytes && *static_cast<uint64_t*>(value) > 0;
  return known ? enter("cuMemPoolSetAttribute", false) : cuda::kInvalidValue;
}
cuda::Result cuMemPoolTrimTo(cuda::Pool, size_t keep) {
  state().pooled_bytes = std::min(state().pooled_bytes, keep);
  return enter("cuMemPoolTrimTo");
}

cuda::Result cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::DeviceId device) {
  *context = the_context(device);
  return enter("cuDevicePrimaryCtxRetain", false);
}
cuda::Result cuCtxGetCurrent(cuda::Context* context) {
  *context = current;
  return enter("cuCtxGetCurrent", false);
}
cuda::Result cuCtxSetCurrent(cuda::Context context) {
  current = context;
  return enter("cuCtxSetCurrent", false);
}
cuda::Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return enter("cuCtxGetStreamPriorityRange");
}

cuda::Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  *total = settings().memory_bytes;
  *free = *total - bytes_allocated() - state().pooled_bytes;
  return enter("cuMemGetInfo_v2");
}
cuda::Result cuMemAlloc_v2(cuda::DevicePointer* memory, size_t bytes) {
  const cuda::Result r = enter("cuMemAlloc_v2");
  return r ? r : allocate(memory, bytes);
}
cuda::Result cuMemFree_v2(cuda::DevicePointer memory) {
  const cuda::Result r = enter("cuMemFree_v2");
  return r ? r : release(memory, false);
}
cuda::Result cuMemAllocAsync(cuda::DevicePointer* memory, size_t bytes, cuda::StreamId) {
  const cuda::Result r = enter("cuMemAllocAsync");
  return r ? r : allocate(memory, bytes);
}
cuda::Result cuMemFreeAsync(cuda::DevicePointer memory, cuda::StreamId) {
  const cuda::Result r = enter("cuMemFreeAsync");
  return r ? r : release(memory, true);
}
cuda::Result cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  if (const cuda::Result r = enter("cuMemHostAlloc")) return r;
  if (flags != (cuda::kHostPortable | cuda::kHostMapped)) return cuda::kInvalidValue;
  *memory = std::malloc(bytes);
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  if (const cuda::Result r = enter("cuMemHostRegister_v2")) return r;
  if (!memory || !bytes || (flags & ~cuda::kHostReadOnly) != (cuda::kHostPortable | cuda::kHostMapped))
    return cuda::kInvalidValue;
  const auto begin = reinterpret_cast<uint64_t>(memory);
  for (const auto& [other, size] : state().registered)
    if (begin < other + size && other < begin + bytes) return cuda::kAlreadyRegistered;
  state().registered[begin] = bytes;
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuMemHostUnregister(void* memory) {
  if (const cuda::Result r = enter("cuMemHostUnregister")) return r;
  if (!state().registered.erase(reinterpret_cast<uint64_t>(memory))) return cuda::kNotRegistered;
  --state().objects;
  return cuda::kSuccess;
}
cuda::Result cuMemHostGetDevicePointer_v2(cuda::DevicePointer* address, void* memory, unsigned) {
  *address = reinterpret_cast<uint64_t>(memory);
  return enter("cuMemHostGetDevicePointer_v2");
}
cuda::Result cuMemFreeHost(void* memory) {
  std::free(memory);
  --state().objects;
  return enter("cuMemFreeHost");
}

}  // extern "C"
}  // namespace trine::fake
