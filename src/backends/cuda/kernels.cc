// CUDA C++ on the GPU: PTX of our compiler, or of the cache, which the driver makes into machine code.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "backends/cuda/stream.h"
#include "backends/cuda/target.h"
#include "backends/cuda/tensor_map.h"
#include "backends/cuda/textures.h"
#include "compute/kernel_table.h"
#include "compute/trace.h"
#include "simt/compiler.h"
#include "simt/run/compile_ptx.h"
#include "simt/run/find_kernel.h"
#include "simt/run/program.h"
#include "trine/base/error.h"

namespace trine::cuda {
namespace {

using compute::KernelHandle;
using compute::KernelProperties;
using compute::LaunchShape;
using compute::ModuleHandle;
using compute::StreamHandle;

struct Kernel {
  DeviceContext* device;
  Function function;
  const std::string* name;  // kept
  int most_dynamic_shared;
  KernelProperties properties;
};

// Kernels are looked up when they are asked for: the driver loads them one by one.
struct LoadedModule {
  DeviceContext* device;
  simt::DeviceModule info;
  Module id = nullptr;
  std::mutex mutex;
  std::map<const simt::KernelInfo*, Kernel> kernels;

  ~LoadedModule() {
    Context current = nullptr;
    if (!id) return;
    if (api().context_get(&current) != kSuccess || current != device->context)
      if (api().context_set(device->context) != kSuccess) return;  // at exit
    api().module_unload(id);
  }
};

LoadedModule& module_of(const ModuleHandle& handle) { return *static_cast<LoadedModule*>(handle.get()); }
const Kernel& kernel_of(KernelHandle handle) { return *static_cast<const Kernel*>(handle); }

int attribute_of(const DeviceContext& device, DeviceAttribute which) {
  int value = 0;
  check(api().device_attribute(&value, which, device.id), "cuDeviceGetAttribute");
  return value;
}

void load(LoadedModule& module, const std::string& ptx, bool debug) {
  std::string log(16384, '\0');
  JitOption options[] = {kErrorLog, kErrorLogBytes, debug ? kDebugInfo : kLineInfo};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1), reinterpret_cast<void*>(uintptr_t{1})};
  const Result result = api().module_load(&module.id, ptx.c_str(), std::size(options), options, values);
  log.resize(log.find('\0'));
  if (result != kInvalidPtx && result != kUnsupportedPtx) return check(result, "cuModuleLoadDataEx");
  throw Error(ErrorCode::invalid_argument,
              fmt::format("compile: the driver does not take this PTX: {}; {}", words_of(api(), result),
                          log.empty() ? "look at its inline PTX" : log));
}

std::string architecture_of(const DeviceContext& device) {
  return specific_architecture_for(attribute_of(device, kMajor), attribute_of(device, kMinor));
}

simt::PtxModule compiled_for(const DeviceContext& device, std::string_view source,
                             const compute::CompileOptions& options) {
  static const simt::Cache cache(simt::cache_folder());
  return simt::compile_ptx(source, options, architecture_of(device), ptx_version_for(driver().version), cache);
}

ModuleHandle compile(int index, std::string_view source, const compute::CompileOptions& options) {
  if (!options.checks.empty())
    throw Error(ErrorCode::unsupported,
                "compile: checks on a GPU; open the device 'cpu' for them, or run under compute-sanitizer");
  DeviceContext& device = use_device(index);
  const compute::Activity activity(compute::What::compile, "cuda", index, nullptr);
  simt::PtxModule compiled = compiled_for(device, source, options);
  if (compute::TraceEvent* event = activity.event()) {
    event->name = compute::name_for(compute::What::compile, "cuda", index, options.name);
    event->cached = compiled.cached;
  }
  auto module = std::make_shared<LoadedModule>();
  module->device = &device;
  module->info = std::move(compiled.info);
  load(*module, compiled.ptx, options.debug);
  return module;
}

std::string program(int index, std::string_view source, const compute::CompileOptions& options) {
  const DeviceContext& device = use_device(index);
  simt::PtxModule compiled = compiled_for(device, source, options);
  return simt::encode_program({options, std::move(compiled.info), {{architecture_of(device), compiled.ptx}}});
}

int number_of(std::string_view architecture) {
  int number = 0;
  for (char c : architecture)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

// PTX that the program carries for the newest architecture that this device runs; else made now.
std::string ptx_for(const simt::Program& program, const DeviceContext& device) {
  const int major = attribute_of(device, kMajor), minor = attribute_of(device, kMinor);
  const simt::PtxText* best = nullptr;
  for (const simt::PtxText& ptx : program.ptx) {
    const bool specific = ptx.architecture.ends_with('a');  // runs nowhere else
    if (specific ? ptx.architecture != architecture_of(device) : number_of(ptx.architecture) > major * 10 + minor)
      continue;
    if (!best || number_of(ptx.architecture) > number_of(best->architecture)) best = &ptx;
  }
  if (best) return best->text;
  if (program.module.bitcode.empty())
    throw Error(ErrorCode::unsupported, fmt::format("load: the program has no code for {}; compile it for this device",
                                                    architecture_of(device)));
  return simt::compiler().ptx(program.module, architecture_for(major, minor), ptx_version_for(driver().version),
                              program.options.fast_math);
}

ModuleHandle load_program(int index, std::string_view bytes) {
  simt::Program program = simt::decode_program(bytes);
  if (!program.options.checks.empty())
    throw Error(ErrorCode::unsupported,
                "load: checks on a GPU; run the program on the CPU for them, or under compute-sanitizer");
  DeviceContext& device = use_device(index);
  auto module = std::make_shared<LoadedModule>();
  module->device = &device;
  load(*module, ptx_for(program, device), program.options.debug);
  program.module.bitcode.clear();
  module->info = std::move(program.module);
  return module;
}

std::vector<std::string> kernels(const ModuleHandle& handle) {
  std::vector<std::string> names;
  for (const simt::KernelInfo& kernel : module_of(handle).info.kernels) names.push_back(kernel.name);
  return names;
}

uint32_t attribute_of(Function function, FunctionAttribute which) {
  int value = 0;
  check(api().function_get(&value, which, function), "cuFuncGetAttribute");
  return static_cast<uint32_t>(value);
}

Kernel load_kernel(const LoadedModule& module, const simt::KernelInfo& info) {
  Kernel kernel{.device = module.device, .name = kept_name(info.name)};
  check(api().module_function(&kernel.function, module.id, info.symbol.c_str()), "cuModuleGetFunction");
  KernelProperties& p = kernel.properties;
  p.name = info.name;
  p.static_shared_bytes = attribute_of(kernel.function, kStaticShared);
  p.most_threads = attribute_of(kernel.function, kMostThreads);
  p.registers = attribute_of(kernel.function, kRegisters);
  for (const simt::Parameter& parameter : info.parameters) p.parameter_bytes.push_back(parameter.bytes);
  // Without this only 48 KB are allowed; what a launch does not ask for it does not get.
  kernel.most_dynamic_shared = module.device->shared_bytes - static_cast<int>(p.static_shared_bytes);
  check(api().function_set(kernel.function, kMostDynamicShared, kernel.most_dynamic_shared), "cuFuncSetAttribute");
  return kernel;
}

KernelHandle kernel(const ModuleHandle& handle, std::string_view name) {
  LoadedModule& module = module_of(handle);
  const simt::KernelInfo* info = simt::find_kernel(module.info, name);
  if (!info) return nullptr;
  use(*module.device);
  const std::lock_guard lock(module.mutex);
  auto found = module.kernels.find(info);
  if (found == module.kernels.end()) found = module.kernels.emplace(info, load_kernel(module, *info)).first;
  return &found->second;
}

compute::Module::Variable variable(const ModuleHandle& handle, std::string_view name) {
  const LoadedModule& module = module_of(handle);
  const simt::VariableInfo* info = simt::find_variable(module.info, name);
  if (!info) return {nullptr, 0};
  use(*module.device);
  DevicePointer address = 0;
  size_t bytes = 0;
  check(api().module_global(&address, &bytes, module.id, info->symbol.c_str()), "cuModuleGetGlobal");
  return {reinterpret_cast<void*>(address), bytes};
}

void check_shared(const Kernel& kernel, const LaunchShape& shape) {
  if (shape.shared_bytes <= static_cast<uint32_t>(kernel.most_dynamic_shared)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("launch: {} bytes of dynamic shared memory for {}; accepted are 0 to {}", shape.shared_bytes,
                          *kernel.name, kernel.most_dynamic_shared));
}

[[noreturn]] void too_many_blocks(const Kernel& kernel, const LaunchShape& shape) {
  int blocks = 0;
  const auto threads = static_cast<int>(shape.block.volume());
  check(api().most_blocks(&blocks, kernel.function, threads, shape.shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("launch: {} blocks of the cooperative kernel {}; at most {} of this shape are resident at once",
                  shape.grid.volume(), *kernel.name, blocks * kernel.device->multiprocessors));
}

void trace(compute::TraceEvent& event, const Kernel& kernel, const LaunchShape& shape) {
  event.name = compute::name_for(compute::What::launch, "cuda", kernel.device->index, *kernel.name);
  event.set_shape(shape);
}

Result start(const Kernel& kernel, const LaunchShape& shape, const void* const* arguments, StreamId stream) {
  const auto &grid = shape.grid, &block = shape.block, &cluster = shape.cluster;
  auto** const pointers = const_cast<void**>(arguments);  // the driver reads them
  if (shape.cooperative)
    return api().launch_cooperative(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    shape.shared_bytes, stream, pointers);
  const bool overlaps = shape.overlap && kernel.device->can_overlap, has_cluster = cluster.volume() > 1;
  if (!overlaps && !has_cluster)
    return api().launch(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shape.shared_bytes, stream,
                        pointers, nullptr);
  LaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (has_cluster) attributes[count++] = {.id = kAttributeCluster, .cluster = {cluster.x, cluster.y, cluster.z}};
  if (overlaps) attributes[count++] = {.id = kAttributeOverlap, .overlap = 1};
  const LaunchConfig config{
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shape.shared_bytes, stream, attributes, count};
  return api().launch_configured(&config, kernel.function, pointers, nullptr);
}

void launch(KernelHandle handle, const LaunchShape& shape, const void* const* arguments, StreamHandle stream) {
  const Kernel& kernel = kernel_of(handle);
  check_shared(kernel, shape);
  use(*kernel.device);
  const compute::Activity activity(compute::What::launch, "cuda", kernel.device->index, stream);
  if (activity.event()) trace(*activity.event(), kernel, shape);
  const Result result = start(kernel, shape, arguments, id_of(stream));
  if (result == kCooperativeTooLarge) too_many_blocks(kernel, shape);
  // What fails here is an earlier kernel, when it is not this launch itself.
  if (result != kSuccess)
    check(result, fmt::format("launch of {}", *kernel.name), last_kernel_on(*kernel.device, stream));
  if (stream) stream_of(stream)->last_kernel.store(kernel.name, std::memory_order_relaxed);
  kernel.device->last_kernel.store(kernel.name, std::memory_order_relaxed);
}

void update(compute::GraphHandle graph, void* operation, KernelHandle handle, const LaunchShape& shape,
            const void* const* arguments) {
  const Kernel& kernel = kernel_of(handle);
  check_shared(kernel, shape);
  use(*kernel.device);
  KernelNode node{};
  node.function = kernel.function;
  const compute::Dim3 grid = shape.grid, block = shape.block;
  const unsigned sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  std::copy(sizes, sizes + 3, node.grid);
  std::copy(sizes + 3, sizes + 6, node.block);
  node.shared_bytes = shape.shared_bytes;
  node.arguments = const_cast<void**>(arguments);
  check(api().graph_update_kernel(static_cast<Graph*>(graph)->exec, static_cast<GraphNode>(operation), &node),
        "cuGraphExecKernelNodeSetParams");
}

const compute::KernelTable kCudaKernels = {
    .backend = "cuda",
    .compile = compile,
    .kernels = kernels,
    .kernel = kernel,
    .properties = [](KernelHandle handle) { return kernel_of(handle).properties; },
    .variable = variable,
    .launch = launch,
    .update = update,
    .load = load_program,
    .program = program,
    .textures = &kTextures,
    .encode_tensor_map = encode_tensor_map,
};
const compute::RegisterKernels registered(kCudaKernels);

}  // namespace
}  // namespace trine::cuda
