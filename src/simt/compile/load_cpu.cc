#include "simt/compile/load_cpu.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>
#include <set>

#include "simt/compile/fold_reflect.h"
#include "simt/compile/inline_ptx.h"
#include "simt/compile/jit.h"
#include "simt/compile/lanes/lanes.h"
#include "simt/compile/threads.h"
#include "simt/compile/threads_globals.h"
#include "simt/compile/threads_lower.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

struct LoadedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

class Program final : public CpuProgram {
 public:
  Program(const DeviceModule& info, std::span<const RuntimeSymbol> runtime)
      : info_(info), runtime_(runtime.begin(), runtime.end()) {}

  void* variable(std::string_view symbol) override;
  CpuKernel kernel(const KernelInfo& kernel, const CpuKernelOptions& options) override;
  uint32_t shared_bytes(const KernelInfo& kernel) override;

 private:
  LoadedModule load();
  Jit& jit();
  CpuKernel make_threads_kernel(const KernelInfo& kernel, const CpuKernelOptions& options);
  CpuKernel make_lanes_kernel(const KernelInfo& kernel, const CpuKernelOptions& options);
  void need_variables(LoadedModule loaded, Jit& jit);

  const DeviceModule info_;
  const std::vector<RuntimeSymbol> runtime_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<Jit> jit_;
  std::set<std::string> variables_;  // that live in the program
  int blocks_made_ = 0;
};

// A context for each: kernels are compiled without those before them being kept.
LoadedModule Program::load() {
  LoadedModule loaded;
  const llvm::MemoryBufferRef bitcode(info_.bitcode, "kernels");
  auto module = llvm::parseBitcodeFile(bitcode, *loaded.context);
  if (!module) throw Error(ErrorCode::invalid_argument, "cpu: damaged bitcode: " + llvm::toString(module.takeError()));
  loaded.module = std::move(*module);
  translate_inline_ptx(*loaded.module);
  fold_reflect(*loaded.module);
  return loaded;
}

void Program::need_variables(LoadedModule loaded, Jit& jit) {
  variables_ = program_variables(*loaded.module, info_);
  if (variables_.empty()) return;
  isolate_variables(*loaded.module, variables_);
  make_functions(*loaded.module, *jit.machine());
  jit.add(std::move(loaded.module), std::move(loaded.context));
}

// Compiled with -g and without optimisation.
bool is_for_debugger(const llvm::Module& module) {
  const auto units = module.debug_compile_units();
  return units.begin() != units.end() && !(*units.begin())->isOptimized();
}

Jit& Program::jit() {
  if (!jit_) {
    LoadedModule loaded = load();
    auto made = std::make_unique<Jit>(runtime_, is_for_debugger(*loaded.module));
    need_variables(std::move(loaded), *made);
    jit_ = std::move(made);
  }
  return *jit_;
}

void* Program::variable(std::string_view symbol) {
  const std::lock_guard lock(mutex_);
  Jit& here = jit();
  const std::string name(symbol);
  return variables_.contains(name) ? here.address(name) : nullptr;
}

uint32_t Program::shared_bytes(const KernelInfo& kernel) {
  LoadedModule loaded = load();
  isolate_kernel(*loaded.module, kernel.symbol, {});
  drop_unreached(*loaded.module);
  return static_shared_bytes(*loaded.module);
}

CpuKernel Program::make_threads_kernel(const KernelInfo& kernel, const CpuKernelOptions& options) {
  Jit& here = jit();
  LoadedModule loaded = load();
  program_variables(*loaded.module, info_);  // names those without
  isolate_kernel(*loaded.module, kernel.symbol, variables_);
  const ThreadCode code = make_threads(*loaded.module, kernel, options, *here.machine());
  here.add(std::move(loaded.module), std::move(loaded.context));
  return {.run_thread = reinterpret_cast<ThreadFunction>(here.address(code.symbol)), .shared_bytes = code.shared_bytes};
}

CpuKernel Program::make_lanes_kernel(const KernelInfo& kernel, const CpuKernelOptions& options) {
  Jit& here = jit();
  LoadedModule loaded = load();
  program_variables(*loaded.module, info_);  // names those without
  isolate_kernel(*loaded.module, kernel.symbol, variables_);
  const lanes::Options how{.block = options.block,
                           .symbol = kernel.symbol + ".lanes" + std::to_string(++blocks_made_),  // for each shape
                           .width = options.width,
                           .print = env_integer("TRINE_DEBUG") >= 5};
  const lanes::Code code = lanes::vectorize(*loaded.module, kernel, how, *here.machine());
  here.add(std::move(loaded.module), std::move(loaded.context));
  return {.run_block = reinterpret_cast<BlockFunction>(here.address(code.symbol)),
          .shared_bytes = code.shared_bytes,
          .frame_bytes = code.frame_bytes,
          .width = code.width};
}

CpuKernel Program::kernel(const KernelInfo& kernel, const CpuKernelOptions& options) {
  const std::lock_guard lock(mutex_);
  const bool in_lanes = options.mode == compute::CpuMode::lanes;
  return in_lanes ? make_lanes_kernel(kernel, options) : make_threads_kernel(kernel, options);
}

}  // namespace

std::unique_ptr<CpuProgram> load_cpu(const DeviceModule& module, std::span<const RuntimeSymbol> runtime) {
  return std::make_unique<Program>(module, runtime);
}

}  // namespace trine::simt
