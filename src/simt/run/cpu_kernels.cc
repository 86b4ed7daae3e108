// Kernels on the device "cpu": compiled in process, launched at once.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "compute/immediate.h"
#include "compute/kernel_table.h"
#include "compute/trace.h"
#include "simt/check/launch_checks.h"
#include "simt/run/code_cache.h"
#include "simt/run/find_kernel.h"
#include "simt/run/launch.h"
#include "simt/run/program.h"
#include "simt/run/symbols.h"
#include "simt/run/textures.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

using compute::Activity;
using compute::CpuMode;
using compute::Dim3;
using compute::KernelHandle;
using compute::LaunchShape;
using compute::ModuleHandle;
using compute::name_for;
using compute::TraceEvent;
using compute::What;

constexpr size_t kParameterAlign = 128;
constexpr size_t kMostParameterBytes = 32'764;  // CUDA's limit

// Machine code of a kernel for blocks of a shape; threads take any.
struct Compiled {
  Dim3 block;
  bool any_block;
  CpuKernel code;
  mutable std::atomic<uint32_t> block_ns{0};  // CpuLaunch::block_ns
};

struct CpuModule;

struct LoadedKernel {
  CpuModule* module;
  const KernelInfo* info;
  std::atomic<const Compiled*> latest{nullptr};
  std::vector<std::unique_ptr<Compiled>> compiled;  // of the module's mutex, as is what follows
  std::string why_no_lanes;
  int64_t shared_bytes = -1;  // not known yet
  std::atomic<const compute::TraceName*> trace_name{nullptr};
};

struct CpuModule {
  compute::CompileOptions options;
  DeviceModule info;
  std::unique_ptr<CpuProgram> program;
  std::mutex mutex;
  std::map<const KernelInfo*, LoadedKernel> kernels;

  bool needs_threads() const { return options.mode == CpuMode::threads || options.debug || !options.checks.empty(); }
};

CpuModule& module_of(const ModuleHandle& handle) { return *static_cast<CpuModule*>(handle.get()); }
LoadedKernel& kernel_of(KernelHandle handle) { return *static_cast<LoadedKernel*>(const_cast<void*>(handle)); }

// A barrier that cannot complete is always told; with its check, where threads wait.
void begin_checks(const compute::CompileOptions& options) {
  for (const std::string& check : options.checks)
    if (!check_bit(check))
      throw Error(ErrorCode::unsupported, fmt::format("compile: check '{}'; accepted are {}", check, kCheckNames));
  if (check_bits(options.checks) & kCheckInit) MemoryMap::of_process().watch_writes();
  if (!options.checks.empty()) MemoryMap::of_process().enable();
}

ModuleHandle compile(int, std::string_view source, const compute::CompileOptions& options) {
  begin_checks(options);
  const Activity activity(What::compile, "cpu", 0, nullptr, name_for(What::compile, "cpu", 0, options.name));
  auto module = std::make_shared<CpuModule>();
  module->options = options;
  module->info = parse_or_find(source, options);
  module->program = compiler().load_cpu(module->info, runtime_symbols());
  if (auto store = code_store(options)) module->program->use_store(std::move(store));
  return module;
}

ModuleHandle load_program(int, std::string_view bytes) {
  Program program = decode_program(bytes);
  auto module = std::make_shared<CpuModule>();
  module->options = std::move(program.options);
  begin_checks(module->options);
  module->info = std::move(program.module);
  module->program = compiler().load_cpu(module->info, runtime_symbols());
  if (auto store = code_store(module->options)) module->program->use_store(std::move(store));
  return module;
}

std::vector<std::string> kernels(const ModuleHandle& handle) {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : module_of(handle).info.kernels) names.push_back(kernel.name);
  return names;
}

KernelHandle kernel(const ModuleHandle& handle, std::string_view name) {
  CpuModule& module = module_of(handle);
  const KernelInfo* info = find_kernel(module.info, name);
  if (!info) return nullptr;
  const std::lock_guard lock(module.mutex);
  LoadedKernel& loaded = module.kernels[info];
  loaded.module = &module;
  loaded.info = info;
  return &loaded;
}

compute::KernelProperties properties(KernelHandle handle) {
  LoadedKernel& kernel = kernel_of(handle);
  const std::lock_guard lock(kernel.module->mutex);
  if (kernel.shared_bytes < 0) kernel.shared_bytes = kernel.module->program->shared_bytes(*kernel.info);
  compute::KernelProperties p;
  p.name = kernel.info->name;
  p.static_shared_bytes = static_cast<uint32_t>(kernel.shared_bytes);
  p.most_threads = kernel.info->most_threads;
  for (const Parameter& parameter : kernel.info->parameters) p.parameter_bytes.push_back(parameter.bytes);
  return p;
}

compute::Module::Variable variable(const ModuleHandle& handle, std::string_view name) {
  CpuModule& module = module_of(handle);
  const VariableInfo* info = find_variable(module.info, name);
  if (!info) return {nullptr, 0};
  return {module.program->variable(info->symbol), info->bytes};
}

CpuKernelOptions options_for(const CpuModule& module, CpuMode mode, const Dim3& block) {
  return {.mode = mode, .block = block, .debug = module.options.debug, .checks = check_bits(module.options.checks)};
}

// TRINE_DEBUG=2: how a kernel runs, and why not in lanes.
void show(const LoadedKernel& kernel, const Compiled& made, double ms) {
  const CpuModule& module = *kernel.module;
  const std::string how = made.code.run_block ? fmt::format("lanes of {}", made.code.width) : "threads";
  std::string why;
  if (!made.code.run_block) {
    if (module.options.mode == CpuMode::threads) why = "; asked for";
    else if (module.needs_threads()) why = "; for debug or checks";
    else if (!kernel.why_no_lanes.empty()) why = "; " + kernel.why_no_lanes;
    else why = "; a cooperative launch";
  }
  fmt::print(stderr, "cpu: kernel '{}', blocks of {}x{}x{}: {}, ready in {:.0f} ms{}\n", kernel.info->name,
             made.block.x, made.block.y, made.block.z, how, ms, why);
}

// Lanes where they can run the kernel; once they have refused it, threads run it for all shapes.
Compiled make(LoadedKernel& kernel, const LaunchShape& shape) {
  CpuModule& module = *kernel.module;
  const auto code = [&](CpuMode mode) {
    return module.program->kernel(*kernel.info, options_for(module, mode, shape.block));
  };
  const bool threads = module.needs_threads() || shape.cooperative;
  if (!threads && module.options.mode == CpuMode::lanes) return {shape.block, false, code(CpuMode::lanes)};
  if (!threads && kernel.why_no_lanes.empty()) {
    try {
      return {shape.block, false, code(CpuMode::lanes)};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      kernel.why_no_lanes = error.what();
    }
  }
  return {shape.block, true, code(CpuMode::threads)};
}

bool fits(const Compiled& compiled, const LaunchShape& shape) {
  return compiled.any_block || (compiled.block == shape.block && !shape.cooperative);
}

const Compiled& compiled_for(LoadedKernel& kernel, const LaunchShape& shape) {
  const Compiled* latest = kernel.latest.load(std::memory_order_acquire);
  if (latest && fits(*latest, shape)) return *latest;
  const std::lock_guard lock(kernel.module->mutex);
  for (const auto& compiled : kernel.compiled)
    if (fits(*compiled, shape)) {
      kernel.latest.store(compiled.get(), std::memory_order_release);
      return *compiled;
    }
  const Activity activity(What::compile, "cpu", 0, nullptr, name_for(What::compile, "cpu", 0, kernel.info->name));
  const auto begin = std::chrono::steady_clock::now();
  kernel.compiled.emplace_back(new Compiled(make(kernel, shape)));  // cannot be moved
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  if (debug_shows(DebugLevel::times)) show(kernel, *kernel.compiled.back(), spent.count());
  kernel.latest.store(kernel.compiled.back().get(), std::memory_order_release);
  return *kernel.compiled.back();
}

void pack(const KernelInfo& kernel, const void* const* arguments, char* block) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(block + kernel.parameters[i].offset, arguments[i], kernel.parameters[i].bytes);
}

const compute::TraceName* trace_name(LoadedKernel& kernel) {
  const compute::TraceName* name = kernel.trace_name.load(std::memory_order_acquire);
  if (name) return name;
  name = compute::name_for(What::launch, "cpu", 0, kernel.info->name);
  kernel.trace_name.store(name, std::memory_order_release);
  return name;
}

// Compiling is no part of the kernel's time.
void trace(TraceEvent& event, LoadedKernel& kernel, const CpuLaunch& launch, const Compiled* latest) {
  event.name = trace_name(kernel);
  event.set_shape(launch.shape);
  event.mode = launch.code.run_block ? compute::RunsIn::lanes : compute::RunsIn::threads;
  event.width = static_cast<uint16_t>(launch.code.width);
  if (kernel.latest.load(std::memory_order_relaxed) != latest) event.ready = compute::trace_ticks();
}

void run(LoadedKernel& kernel, const LaunchShape& shape, const void* parameters, compute::StreamHandle stream) {
  const Activity activity(What::launch, "cpu", 0, stream);
  const Compiled* latest = activity.event() ? kernel.latest.load(std::memory_order_relaxed) : nullptr;
  const Compiled& compiled = compiled_for(kernel, shape);
  CpuLaunch launch{.name = kernel.info->name.c_str(),
                   .code = compiled.code,
                   .parameters = parameters,
                   .shape = shape,
                   .on_caller = kernel.module->options.debug,
                   .trace = activity.event(),
                   .block_ns = &compiled.block_ns};
  if (activity.event()) trace(*activity.event(), kernel, launch, latest);
  std::optional<LaunchChecks> checks;
  if (launch.code.checks) {
    MemoryMap::of_process().add_variables(*launch.code.checks);
    checks.emplace(*launch.code.checks, launch.name, shape, reinterpret_cast<uint64_t>(parameters),
                   kernel.info->parameter_bytes);
    launch.checks = &*checks;
  }
  try {
    run_launch(launch);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device) compute::fail_stream(stream, error.what());
    throw;
  }
}

void launch(KernelHandle handle, const LaunchShape& shape, const void* const* arguments, compute::StreamHandle stream) {
  compute::check_stream(stream);
  LoadedKernel& kernel = kernel_of(handle);
  constexpr size_t kSmall = 512;
  if (kernel.info->parameter_bytes <= kSmall) {
    alignas(kParameterAlign) char block[kSmall];
    pack(*kernel.info, arguments, block);
    return run(kernel, shape, block, stream);
  }
  if (kernel.info->parameter_bytes > kMostParameterBytes)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("launch: {} bytes of parameters for {}; accepted are {}", kernel.info->parameter_bytes,
                            kernel.info->name, kMostParameterBytes));
  alignas(kParameterAlign) char block[kMostParameterBytes + 4];
  pack(*kernel.info, arguments, block);
  run(kernel, shape, block, stream);
}

const compute::KernelTable kTable = {.backend = "cpu",
                                     .compile = compile,
                                     .kernels = kernels,
                                     .kernel = kernel,
                                     .properties = properties,
                                     .variable = variable,
                                     .launch = launch,
                                     .load = load_program,
                                     .textures = &kTextures};
const compute::RegisterKernels registered(kTable);

}  // namespace
}  // namespace trine::simt
