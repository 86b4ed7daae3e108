// The driver that pretends: modules, launches, graphs. Of PTX it reads `.entry NAME(` and `.global .b8 NAME[BYTES];`.
#include <cstdlib>
#include <cstring>

#include "state.h"

namespace trine::fake {
namespace {

struct FunctionData {
  std::string symbol;
  int most_dynamic_shared = 49152;
};

struct ModuleData {
  std::map<std::string, FunctionData> functions;
  std::map<std::string, std::vector<char>> variables;
};

struct GraphObjectData {
  std::shared_ptr<GraphData> graph;
};

ModuleData& data_of(cuda::Module module) { return *reinterpret_cast<ModuleData*>(module); }
FunctionData& data_of(cuda::Function function) { return *reinterpret_cast<FunctionData*>(function); }
StreamData& data_of(cuda::StreamId stream) { return *reinterpret_cast<StreamData*>(stream); }
GraphObjectData& data_of(cuda::GraphId graph) { return *reinterpret_cast<GraphObjectData*>(graph); }
GraphObjectData& data_of(cuda::GraphExec exec) { return *reinterpret_cast<GraphObjectData*>(exec); }

void read_ptx(ModuleData& module, const std::string& ptx) {
  constexpr std::string_view kEntry = ".entry ", kGlobal = ".global .b8 ";
  for (size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + 1)) {
    const size_t begin = at + kEntry.size();
    const std::string symbol = ptx.substr(begin, ptx.find('(', begin) - begin);
    module.functions[symbol].symbol = symbol;
  }
  for (size_t at = ptx.find(kGlobal); at != std::string::npos; at = ptx.find(kGlobal, at + 1)) {
    const size_t begin = at + kGlobal.size(), bracket = ptx.find('[', begin);
    std::vector<char>& bytes = module.variables[ptx.substr(begin, bracket - begin)];
    bytes.resize(std::strtoul(ptx.c_str() + bracket + 1, nullptr, 10));
    state().memory[reinterpret_cast<uint64_t>(bytes.data())] = bytes.size();
  }
}

void set_arguments(Node& node, void** arguments) {
  const Kernel& kernel = state().kernels.at(node.symbol);
  node.arguments.clear();
  for (size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    const char* from = static_cast<const char*>(arguments[i]);
    node.arguments.emplace_back(from, from + kernel.parameter_bytes[i]);
  }
}

cuda::Result launch(const char* name, cuda::Function function, const Launch& shape, cuda::StreamId stream) {
  if (const cuda::Result r = enter(name)) return r;
  const FunctionData& data = data_of(function);
  if (shape.shared_bytes > static_cast<unsigned>(data.most_dynamic_shared)) return cuda::kInvalidValue;
  if (!state().kernels.contains(data.symbol)) return cuda::kNotFound;
  auto node = std::make_shared<Node>();
  node->symbol = data.symbol;
  node->launch = shape;
  set_arguments(*node, shape.arguments);
  node->run = [n = node.get()] { run_kernel(*n); };
  submit(stream, node);
  return cuda::kSuccess;
}

}  // namespace

void run_kernel(Node& node) {
  std::vector<void*> pointers;
  for (auto& argument : node.arguments) pointers.push_back(argument.data());
  Launch launch = node.launch;
  launch.arguments = pointers.data();
  state().kernels.at(node.symbol).run(launch);
}

extern "C" {

cuda::Result cuModuleLoadDataEx(cuda::Module* module, const void* image, unsigned count, cuda::JitOption* options,
                                void** values) {
  if (const cuda::Result r = enter("cuModuleLoadDataEx")) return r;
  const std::string ptx = static_cast<const char*>(image);
  if (ptx.find("nonsense") != std::string::npos) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == cuda::kErrorLog) std::strcpy(static_cast<char*>(values[i]), "ptxas: nonsense in line 1");
    return cuda::kInvalidPtx;
  }
  auto* data = new ModuleData;
  read_ptx(*data, ptx);
  *module = reinterpret_cast<cuda::Module>(data);
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuModuleUnload(cuda::Module module) {
  for (const auto& [name, bytes] : data_of(module).variables)
    state().memory.erase(reinterpret_cast<uint64_t>(bytes.data()));
  delete &data_of(module);
  --state().objects;
  return enter("cuModuleUnload");
}
cuda::Result cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  if (const cuda::Result r = enter("cuModuleGetFunction")) return r;
  const auto it = data_of(module).functions.find(name);
  if (it == data_of(module).functions.end()) return cuda::kNotFound;
  *function = reinterpret_cast<cuda::Function>(&it->second);
  return cuda::kSuccess;
}
cuda::Result cuModuleGetGlobal_v2(cuda::DevicePointer* memory, size_t* bytes, cuda::Module module, const char* name) {
  if (const cuda::Result r = enter("cuModuleGetGlobal_v2")) return r;
  const auto it = data_of(module).variables.find(name);
  if (it == data_of(module).variables.end()) return cuda::kNotFound;
  *memory = reinterpret_cast<uint64_t>(it->second.data());
  *bytes = it->second.size();
  return cuda::kSuccess;
}
cuda::Result cuFuncGetAttribute(int* value, cuda::FunctionAttribute attribute, cuda::Function) {
  const std::map<int, int> values = {{cuda::kMostThreads, 512}, {cuda::kStaticShared, 256}, {cuda::kRegisters, 17}};
  *value = values.at(attribute);
  return enter("cuFuncGetAttribute");
}
cuda::Result cuFuncSetAttribute(cuda::Function function, cuda::FunctionAttribute attribute, int value) {
  if (attribute != cuda::kMostDynamicShared || value > 232448 - 256) return cuda::kInvalidValue;
  data_of(function).most_dynamic_shared = value;
  return enter("cuFuncSetAttribute");
}
cuda::Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cuda::Function, int, size_t) {
  *blocks = 2;
  return enter("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
cuda::Result cuLaunchKernel(cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, cuda::StreamId stream, void** arguments, void**) {
  return launch("cuLaunchKernel", function, {{gx, gy, gz}, {bx, by, bz}, shared, false, arguments}, stream);
}
cuda::Result cuLaunchCooperativeKernel(cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                       unsigned by, unsigned bz, unsigned shared, cuda::StreamId stream,
                                       void** arguments) {
  if (uint64_t{gx} * gy * gz > 8) return cuda::kCooperativeTooLarge;  // 4 multiprocessors with 2 blocks each
  return launch("cuLaunchCooperativeKernel", function, {{gx, gy, gz}, {bx, by, bz}, shared, true, arguments}, stream);
}
cuda::Result cuLaunchKernelEx(const cuda::LaunchConfig* config, cuda::Function function, void** arguments, void**) {
  fake::Launch shape{{config->grid[0], config->grid[1], config->grid[2]},
                     {config->block[0], config->block[1], config->block[2]},
                     config->shared_bytes,
                     false,
                     arguments};
  for (unsigned i = 0; i < config->count; ++i) {
    const cuda::LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == cuda::kAttributeOverlap) shape.overlap = attribute.overlap != 0;
    else std::copy(attribute.cluster, attribute.cluster + 3, shape.cluster);
  }
  return launch("cuLaunchKernelEx", function, shape, config->stream);
}
// A map that tells what it was asked for: rank, swizzle, address.
cuda::Result cuTensorMapEncodeTiled(cuda::TensorMap* map, int, unsigned rank, void* address, const uint64_t*,
                                    const uint64_t* strides, const unsigned*, const unsigned*, int, int swizzle, int,
                                    int) {
  if (rank > 1 && strides[0] % 16) return cuda::kInvalidValue;
  *map = {{rank, ~uint64_t{0}, static_cast<uint64_t>(swizzle), reinterpret_cast<uint64_t>(address)}};
  return enter("cuTensorMapEncodeTiled");
}
cuda::Result cuTensorMapEncodeIm2col(cuda::TensorMap* map, int, unsigned rank, void* address, const uint64_t*,
                                     const uint64_t*, const int*, const int*, unsigned channels, unsigned pixels,
                                     const unsigned*, int, int swizzle, int, int) {
  *map = {{rank, ~uint64_t{0}, static_cast<uint64_t>(swizzle), reinterpret_cast<uint64_t>(address), channels, pixels}};
  return enter("cuTensorMapEncodeIm2col");
}

cuda::Result cuStreamBeginCapture_v2(cuda::StreamId stream, int) {
  if (const cuda::Result r = enter("cuStreamBeginCapture_v2")) return r;
  StreamData& data = data_of(stream);
  data.capture = std::make_shared<GraphData>();
  data.capture->id = ++state().captures;
  data.origin = true;
  return cuda::kSuccess;
}
cuda::Result cuStreamEndCapture(cuda::StreamId stream, cuda::GraphId* graph) {
  StreamData& data = data_of(stream);
  const std::shared_ptr<GraphData> captured = std::move(data.capture);
  data.capture = nullptr;
  data.origin = false;
  captured->open = false;
  if (const cuda::Result r = enter("cuStreamEndCapture")) return r;
  if (!captured->apart.empty()) return cuda::kCaptureUnjoined;
  *graph = reinterpret_cast<cuda::GraphId>(new GraphObjectData{captured});
  ++state().objects;
  return cuda::kSuccess;
}
#ifndef FAKE_LACKS_CAPTURE_INFO
cuda::Result cuStreamGetCaptureInfo_v2(cuda::StreamId stream, int* status, uint64_t* id, cuda::GraphId*,
                                       const cuda::GraphNode** last, size_t* count) {
  StreamData* data = stream ? &data_of(stream) : nullptr;
  *status = data && data->capturing() ? cuda::kCaptureActive : 0;
  if (*status) {
    *id = data->capture->id;
    data->last_id = reinterpret_cast<cuda::GraphNode>(data->last.get());
    *last = &data->last_id;
    *count = data->last ? 1 : 0;
  }
  return enter("cuStreamGetCaptureInfo_v2");
}
#endif
cuda::Result cuGraphInstantiateWithFlags(cuda::GraphExec* exec, cuda::GraphId graph, unsigned long long) {
  if (const cuda::Result r = enter("cuGraphInstantiateWithFlags")) return r;
  *exec = reinterpret_cast<cuda::GraphExec>(new GraphObjectData{data_of(graph).graph});
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuGraphLaunch(cuda::GraphExec exec, cuda::StreamId) {
  if (const cuda::Result r = enter("cuGraphLaunch")) return r;
  for (const auto& node : data_of(exec).graph->nodes) node->run();
  return cuda::kSuccess;
}
cuda::Result cuGraphExecKernelNodeSetParams_v2(cuda::GraphExec exec, cuda::GraphNode id,
                                               const cuda::KernelNode* parameters) {
  if (const cuda::Result r = enter("cuGraphExecKernelNodeSetParams_v2")) return r;
  for (const auto& node : data_of(exec).graph->nodes) {
    if (reinterpret_cast<cuda::GraphNode>(node.get()) != id) continue;
    const cuda::KernelNode& p = *parameters;
    if (data_of(p.function).symbol != node->symbol) return cuda::kInvalidValue;
    std::copy(p.grid, p.grid + 3, node->launch.grid);
    std::copy(p.block, p.block + 3, node->launch.block);
    node->launch.shared_bytes = p.shared_bytes;
    set_arguments(*node, p.arguments);
    return cuda::kSuccess;
  }
  return cuda::kInvalidValue;
}
cuda::Result cuGraphDestroy(cuda::GraphId graph) {
  delete &data_of(graph);
  --state().objects;
  return enter("cuGraphDestroy");
}
cuda::Result cuGraphExecDestroy(cuda::GraphExec exec) {
  delete &data_of(exec);
  --state().objects;
  return enter("cuGraphExecDestroy");
}

}  // extern "C"
}  // namespace trine::fake
