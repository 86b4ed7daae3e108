#include "cudart/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cudart/programs.h"

namespace trine::cudart {
namespace {

constexpr uint32_t kMostSharedBytes = 227 << 10;
constexpr int kBlocksOfProcessor = 32, kThreadsOfProcessor = 2048;

void check_shape(const Kernel& kernel, const compute::LaunchShape& shape) {
  const auto& [gx, gy, gz] = shape.grid;
  const auto& [bx, by, bz] = shape.block;
  const uint64_t threads = shape.block.volume();
  const bool grid = gx && gy && gz && gx <= INT32_MAX && gy <= UINT16_MAX && gz <= UINT16_MAX;
  const bool block = threads && bx <= 1024 && by <= 1024 && bz <= 64 && threads <= 1024;
  if (!grid || !block || shape.shared_bytes > kMostSharedBytes)
    fail(cudaErrorInvalidConfiguration,
         fmt::format("{}: a grid of {} x {} x {} blocks of {} x {} x {} threads with {} bytes of shared memory",
                     kernel.info->name, gx, gy, gz, bx, by, bz, shape.shared_bytes));
  if (threads > kernel.info->most_threads)
    fail(cudaErrorLaunchOutOfResources, fmt::format("{}: {} threads; its __launch_bounds__ are {}", kernel.info->name,
                                                    threads, kernel.info->most_threads));
}

int most_blocks(const Kernel& kernel, int threads, size_t dynamic_bytes) {
  const compute::KernelProperties p = machine().kernels->properties(kernel.handle);
  if (threads > static_cast<int>(p.most_threads)) return 0;
  const int warps = (threads + 31) / 32;
  int blocks = std::min(kBlocksOfProcessor, kThreadsOfProcessor / 32 / warps);
  const size_t shared = p.static_shared_bytes + dynamic_bytes;
  if (shared > kMostSharedBytes) return 0;
  if (shared) blocks = std::min(blocks, static_cast<int>(kMostSharedBytes / shared));
  return blocks;
}

void launch_now(const Kernel& kernel, const compute::LaunchShape& shape, const void* const* arguments, int device,
                compute::StreamHandle stream) {
  send_managed(device, stream);
  machine().kernels->launch(kernel.handle, shape, arguments, stream);
  if (!machine().gpu) fetch_managed(device);
}

Kernel checked_kernel(const Launch& launch, void** arguments) {
  const Kernel kernel = kernel_of(launch.function);
  check_shape(kernel, launch.shape);
  need(arguments || kernel.info->parameters.empty());
  return kernel;
}

}  // namespace

compute::Dim3 dim_of(const dim3& d) { return {d.x, d.y, d.z}; }

PreparedLaunch prepare(const Launch& launch, void** arguments, int device) {
  const Kernel kernel = checked_kernel(launch, arguments);
  const auto& parameters = kernel.info->parameters;
  const auto values = std::make_shared<std::vector<std::vector<char>>>();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const char* from = static_cast<const char*>(arguments[i]);
    values->emplace_back(from, from + parameters[i].bytes);
  }
  const auto run = [kernel, shape = launch.shape, values, device](compute::StreamHandle stream) {
    std::vector<const void*> pointers;
    for (const auto& value : *values) pointers.push_back(value.data());
    pointers.push_back(nullptr);
    launch_now(kernel, shape, pointers.data(), device, stream);
  };
  return {run, values};
}

void start(const Launch& launch, void** arguments, CUstream_st& stream) {
  const Kernel kernel = checked_kernel(launch, arguments);
  wait_for_others(stream);
  launch_now(kernel, launch.shape, arguments, stream.device, stream.handle);
}

}  // namespace trine::cudart

using namespace trine::cudart;

namespace {

void launch(const Launch& what, void** arguments, cudaStream_t stream) {
  CUstream_st& on = stream_of(stream);
  if (!on.capture || !on.capture->open) return start(what, arguments, on);
  PreparedLaunch prepared = prepare(what, arguments, on.device);
  CUgraphNode_st* node = submit(on, cudaGraphNodeTypeKernel, prepared.run);
  node->function = what.function;
  const auto &grid = what.shape.grid, &block = what.shape.block;
  node->launch = {const_cast<void*>(what.function),
                  dim3(grid.x, grid.y, grid.z),
                  dim3(block.x, block.y, block.z),
                  what.shape.shared_bytes,
                  nullptr,
                  nullptr};
  node->values = prepared.values;
}

// As on a GPU a kernel that fails is told by the next call, not by its launch.
template <class Body>
cudaError_t launch_call(const Body& body) {
  const cudaError_t before = sticky_error(), error = call(body);
  return before == cudaSuccess && error != cudaSuccess && sticky_error() == error ? cudaSuccess : error;
}

uint32_t shared(size_t bytes) { return static_cast<uint32_t>(std::min<size_t>(bytes, UINT32_MAX)); }

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t bytes,
                             cudaStream_t stream) {
  return launch_call(
      [&] { launch({function, {dim_of(grid), dim_of(block), shared(bytes), false}}, arguments, stream); });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t bytes,
                                        cudaStream_t stream) {
  return launch_call([&] {
    const Kernel kernel = kernel_of(function);
    const Launch what{function, {dim_of(grid), dim_of(block), shared(bytes), true}};
    check_shape(kernel, what.shape);
    const int most = most_blocks(kernel, static_cast<int>(what.shape.block.volume()), bytes) *
                     machine().table->properties(current_device()).compute_units;
    need(what.shape.grid.volume() <= static_cast<uint64_t>(most), cudaErrorCooperativeLaunchTooLarge);
    launch(what, arguments, stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (!config) return call([] { fail(cudaErrorInvalidValue); });
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative)
      return cudaLaunchCooperativeKernel(function, config->gridDim, config->blockDim, arguments,
                                         config->dynamicSmemBytes, config->stream);
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
      return call([] { fail(cudaErrorNotSupported, "clusters of blocks"); });
  }
  return cudaLaunchKernel(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                          config->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return call([&] {
    need(out);
    const auto p = machine().kernels->properties(kernel_of(function).handle);
    *out = {};
    out->sharedSizeBytes = p.static_shared_bytes;
    out->maxThreadsPerBlock = static_cast<int>(p.most_threads);
    out->numRegs = p.registers ? static_cast<int>(p.registers) : 32;
    out->ptxVersion = out->binaryVersion = 80;  // __CUDA_ARCH__ is 800
    out->maxDynamicSharedSizeBytes = static_cast<int>(kMostSharedBytes - p.static_shared_bytes);
    out->preferredShmemCarveout = -1;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&] {
    const Kernel kernel = kernel_of(function);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return;
    const uint32_t fixed = machine().kernels->properties(kernel.handle).static_shared_bytes;
    need(value >= 0 && static_cast<uint32_t>(value) + fixed <= kMostSharedBytes);
  });
}
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return call([&] { kernel_of(function); });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return call([&] { kernel_of(function); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* function, int threads,
                                                                   size_t dynamic_bytes, unsigned) {
  return call([&] {
    need(out && threads > 0);
    *out = most_blocks(kernel_of(function), threads, dynamic_bytes);
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function, int threads,
                                                          size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, dynamic_bytes, 0);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* out, const void* function, int blocks, int threads) {
  return call([&] {
    need(out && blocks > 0 && threads > 0);
    const uint32_t fixed = machine().kernels->properties(kernel_of(function).handle).static_shared_bytes;
    const uint32_t each = kMostSharedBytes / static_cast<uint32_t>(blocks);
    *out = each > fixed ? each - fixed : 0;
  });
}
