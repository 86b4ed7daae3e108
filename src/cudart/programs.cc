#include "cudart/programs.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cudart/checks.h"
#include "cudart/stream.h"
#include "simt/compiler.h"
#include "simt/run/find_kernel.h"

namespace trine::cudart {
namespace {

struct Shadow {
  void* host;
  const simt::VariableInfo* info;
};

struct Group;

struct Image {
  simt::Program program;
  std::string_view bytes;
  std::string problem;                           // why there is no program
  std::map<int, compute::ModuleHandle> modules;  // of devices
  std::vector<Shadow> managed;
  Group* group = nullptr;  // of a unit
  std::string copy;        // loaded by hand: what `bytes` are of
  std::map<std::string, std::unique_ptr<char>> stubs;
};

// Units of one executable or shared library: linked when the first of them is needed.
struct Group {
  const void* base = nullptr;
  std::vector<Image*> units;
  std::string bytes;  // of what they became
  std::unique_ptr<Image> whole;
  bool is_complete = false;  // nothing more comes
};

struct Name {
  Image* image;
  std::string symbol;
  std::map<int, Kernel> kernels;  // of devices
};

struct Registry {
  std::recursive_mutex mutex;
  std::deque<Image> images;  // addresses stay
  std::deque<Group> groups;
  std::map<const void*, Name> functions, variables;
  bool gpu_code = false, has_managed = false;
  bool on_device = false;  // the latest values of managed variables may be the device's
};

// Never freed: destructors of the program's objects may still launch.
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

void link(Group& group) {
  group.whole = std::make_unique<Image>();
  Image& whole = *group.whole;
  std::vector<const simt::DeviceModule*> modules;
  for (const Image* unit : group.units) {
    if (!unit->problem.empty()) whole.problem = unit->problem;
    modules.push_back(&unit->program.module);
  }
  if (!whole.problem.empty()) return;
  whole.program.options = group.units.front()->program.options;
  try {
    whole.program.module = simt::compiler().link(modules);
    group.bytes = simt::encode_program(whole.program);
    whole.bytes = group.bytes;
  } catch (const Error& error) {
    whole.problem = error.what();
  }
  whole.program.module.bitcode.clear();
  for (Image* unit : group.units) unit->program.module.bitcode.clear();
}

// Itself, or what it was linked into.
Image& whole_of(Image& image) {
  if (!image.group) return image;
  if (!image.group->whole) link(*image.group);
  return *image.group->whole;
}

const compute::ModuleHandle& module_of(Image& part, int device) {
  Image& image = whole_of(part);
  if (!image.problem.empty()) fail(cudaErrorInvalidKernelImage, image.problem);
  compute::ModuleHandle& module = image.modules[device];
  const compute::KernelTable* kernels = machine().kernels;
  if (!kernels || !kernels->load) fail(cudaErrorNoKernelImageForDevice, "this device runs no programs");
  if (!module) module = kernels->load(device, image.bytes);
  return module;
}

void* address_of(Image& image, int device, const simt::VariableInfo& variable) {
  return machine().kernels->variable(module_of(image, device), variable.symbol).address;
}

void copy_managed(Image& image, int device, bool to_host, compute::StreamHandle stream) {
  using compute::CopyKind;
  for (const Shadow& shadow : image.managed) {
    void* there = address_of(image, device, *shadow.info);
    const auto& table = *machine().table;
    if (to_host) table.copy(device, shadow.host, there, shadow.info->bytes, CopyKind::device_to_host, stream);
    else table.copy(device, there, shadow.host, shadow.info->bytes, CopyKind::host_to_device, stream);
  }
  if (to_host && machine().gpu) machine().table->synchronize(device, stream);
}

}  // namespace

bool carries_gpu_code() { return registry().gpu_code; }

Kernel kernel_of(const void* function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.functions.find(function);
  if (found == all.functions.end())
    fail(cudaErrorInvalidDeviceFunction, "a function that is no kernel of this program");
  Name& name = found->second;
  const int device = current_device();
  if (const auto ready = name.kernels.find(device); ready != name.kernels.end()) return ready->second;
  const compute::ModuleHandle& module = module_of(*name.image, device);
  const simt::KernelInfo* info = simt::find_kernel(whole_of(*name.image).program.module, name.symbol);
  const compute::KernelHandle handle = info ? machine().kernels->kernel(module, name.symbol) : nullptr;
  if (!handle) fail(cudaErrorInvalidDeviceFunction, "no code for kernel " + name.symbol);
  return name.kernels[device] = Kernel{handle, info};
}

compute::Module::Variable variable_of(const void* symbol) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.variables.find(symbol);
  if (found == all.variables.end()) fail(cudaErrorInvalidSymbol, "an address that is no variable of the device");
  Image& image = *found->second.image;
  const auto variable = machine().kernels->variable(module_of(image, current_device()), found->second.symbol);
  if (!variable.address) fail(cudaErrorInvalidSymbol, "no variable " + found->second.symbol);
  return variable;
}

void* load_module(const void* address) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::string bytes;
  simt::Program program;
  try {
    bytes = simt::program_at(address);
    program = simt::decode_program(bytes);
  } catch (const Error& error) {
    fail(cudaErrorInvalidKernelImage, error.what());
  }
  program.module.bitcode.clear();
  Image& image = all.images.emplace_back();
  image.copy = std::move(bytes);
  image.bytes = image.copy;
  image.program = std::move(program);
  return &image;
}

const void* function_of_module(void* module, const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Image& image = *static_cast<Image*>(module);
  if (!simt::find_kernel(image.program.module, name)) fail(cudaErrorSymbolNotFound, "no kernel " + name);
  std::unique_ptr<char>& stub = image.stubs[name];
  if (!stub) {
    stub = std::make_unique<char>();
    all.functions[stub.get()] = {&image, simt::find_kernel(image.program.module, name)->symbol, {}};
  }
  return stub.get();
}

compute::Module::Variable variable_of_module(void* module, const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  Image& image = *static_cast<Image*>(module);
  const simt::VariableInfo* info = simt::find_variable(image.program.module, name);
  if (!info) fail(cudaErrorSymbolNotFound, "no variable " + name);
  return machine().kernels->variable(module_of(image, current_device()), info->symbol);
}

void send_managed(int device, compute::StreamHandle stream) {
  Registry& all = registry();
  if (!all.has_managed) return;
  const std::lock_guard lock(all.mutex);
  for (Image& image : all.images) copy_managed(image, device, false, stream);
  all.on_device = true;
}

void fetch_managed(int device) {
  Registry& all = registry();
  if (!all.has_managed) return;
  const std::lock_guard lock(all.mutex);
  if (!std::exchange(all.on_device, false)) return;
  for (Image& image : all.images)
    if (!image.managed.empty()) copy_managed(image, device, true, stream_of(nullptr).handle);
}

}  // namespace trine::cudart

// What the compiler of the host's part calls.
using namespace trine::cudart;

namespace {

struct Wrapper {
  uint32_t magic, version;
  const void* data;
  void* unused;
};

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

Image& image_of(void** handle) { return *reinterpret_cast<Image*>(handle); }

// Of the units of that executable or library; those that come when they were linked are on their own.
Group& group_of(Registry& all, const void* wrapper) {
  Dl_info where = {};
  dladdr(wrapper, &where);
  for (Group& group : all.groups)
    if (group.base == where.dli_fbase && !group.is_complete) return group;
  all.groups.emplace_back().base = where.dli_fbase;
  return all.groups.back();
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Image& image = all.images.emplace_back();
  try {
    image.bytes = trine::simt::program_at(static_cast<const Wrapper*>(wrapper)->data);
    image.program = trine::simt::decode_program(image.bytes);
    if (image.program.options.unit.empty()) {
      image.program.module.bitcode.clear();
    } else {
      image.group = &group_of(all, wrapper);
      image.group->units.push_back(&image);
    }
    all.gpu_code |= !image.program.ptx.empty();
    begin_checks(image.program.options.checks);
  } catch (const trine::Error& error) {
    image.problem = error.what();
  }
  return reinterpret_cast<void**>(&image);
}

// Initial values of managed variables are the device's.
void __cudaRegisterFatBinaryEnd(void** handle) {
  Image& image = image_of(handle);
  if (!image.managed.empty()) call([&] { copy_managed(image, 0, true, stream_of(nullptr).handle); });
}

void __cudaUnregisterFatBinary(void**) {}

// Units call this one after the other, before constructors of the program run, ...
void __cudaRegisterLinkedBinary(void (*register_all)(void**), void* wrapper, const void*, const void*) {
  void** handle = __cudaRegisterFatBinary(wrapper);
  register_all(handle);
}
// ... and then this, each once.
void __cudaRegisterLinkedBinaryEnd() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (Group& group : all.groups) {
    if (std::exchange(group.is_complete, true)) continue;
    for (Image* unit : group.units) __cudaRegisterFatBinaryEnd(reinterpret_cast<void**>(unit));
  }
}

void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int, void*, void*, void*,
                            void*, int*) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.functions[function] = {&image_of(handle), name, {}};
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int, int) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Image& image = image_of(handle);
  all.variables[host] = {&image, name, {}};
  const trine::simt::VariableInfo* info = trine::simt::find_variable(image.program.module, name);
  if (!info || !info->managed) return;
  image.managed.push_back({host, info});
  all.has_managed = true;
}

void __cudaRegisterManagedVar(void** handle, void** host, char* address, const char* name, int extended, size_t bytes,
                              int constant, int global) {
  __cudaRegisterVar(handle, static_cast<char*>(*host), address, name, extended, bytes, constant, global);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  return call([&] {
    need(!configurations.empty(), cudaErrorMissingConfiguration);
    const Configuration c = configurations.back();
    configurations.pop_back();
    *grid = c.grid;
    *block = c.block;
    *shared_bytes = c.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = c.stream;
  });
}
}
