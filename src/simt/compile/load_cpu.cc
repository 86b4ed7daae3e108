#include "simt/compile/load_cpu.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <mutex>
#include <set>

#include "simt/compile/fold_reflect.h"
#include "simt/compile/inline_ptx.h"
#include "simt/compile/jit.h"
#include "simt/compile/lanes/lanes.h"
#include "simt/compile/libdevice.h"
#include "simt/compile/shared_addresses.h"
#include "simt/compile/stored_code.h"
#include "simt/compile/texture_runtime.h"
#include "simt/compile/threads.h"
#include "simt/compile/threads_globals.h"
#include "simt/compile/threads_lower.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// The shape that code in lanes is made for.
std::string text_of(const CpuKernelOptions& options) {
  std::string text;
  for (const uint32_t part : {options.block.x, options.block.y, options.block.z, uint32_t(options.width)})
    text += "." + std::to_string(part);
  return text;
}

struct LoadedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

class Program final : public CpuProgram {
 public:
  Program(const DeviceModule& info, std::span<const RuntimeSymbol> runtime)
      : runtime_(runtime.begin(), runtime.end()), info_(info) {}

  void* variable(std::string_view symbol) override;
  CpuKernel kernel(const KernelInfo& kernel, const CpuKernelOptions& options) override;
  uint32_t shared_bytes(const KernelInfo& kernel) override;
  void use_store(std::shared_ptr<CodeStore> store) override { store_ = std::move(store); }

 private:
  LoadedModule load();
  Jit& jit();
  std::string key(std::string_view what, const Jit& jit);
  StoredCode made(const std::string& key, llvm::function_ref<StoredCode()> make);
  StoredCode make_variables(Jit& jit);
  StoredCode make_threads_code(const KernelInfo& kernel, const CpuKernelOptions& options);
  StoredCode make_lanes_code(const KernelInfo& kernel, const CpuKernelOptions& options);

  const std::vector<RuntimeSymbol> runtime_;
  std::shared_ptr<CodeStore> store_;
  std::mutex mutex_;  // of what follows
  DeviceModule info_;
  bool is_translated_ = false;  // the bitcode: inline PTX and shared addresses are the CPU's
  std::unique_ptr<Jit> jit_;
  std::string bitcode_key_;
  std::set<std::string> variables_;         // that live in the program
  std::map<std::string, CpuKernel> added_;  // by what they are made for
};

// A context for each: kernels are compiled without those before them being kept.
LoadedModule Program::load() {
  LoadedModule loaded;
  const llvm::MemoryBufferRef bitcode(info_.bitcode, "kernels");
  auto module = llvm::parseBitcodeFile(bitcode, *loaded.context);
  if (!module) throw Error(ErrorCode::invalid_argument, "cpu: damaged bitcode: " + llvm::toString(module.takeError()));
  loaded.module = std::move(*module);
  if (is_translated_) return loaded;
  link_texture_runtime(*loaded.module, false);
  translate_inline_ptx(*loaded.module);
  call_ptx_functions(*loaded.module);
  link_libdevice(*loaded.module);
  fold_reflect(*loaded.module);
  offset_shared_addresses(*loaded.module);
  bitcode_key_ = key_of({info_.bitcode});  // of what came, not of what is made of it
  info_.bitcode.clear();
  llvm::raw_string_ostream stream(info_.bitcode);
  llvm::WriteBitcodeToFile(*loaded.module, stream);
  is_translated_ = true;
  return loaded;
}

// Of code that is made of this bitcode for this processor; "" where none is kept.
std::string Program::key(std::string_view what, const Jit& jit) {
  if (!store_) return "";
  if (bitcode_key_.empty()) bitcode_key_ = key_of({info_.bitcode});
  return key_of({bitcode_key_, jit.target(), what});
}

StoredCode Program::made(const std::string& key, llvm::function_ref<StoredCode()> make) {
  if (key.empty()) return make();
  if (const std::optional<std::string> kept = store_->find(key))
    if (std::optional<StoredCode> code = decode_code(*kept)) return std::move(*code);
  StoredCode code = make();
  store_->store(key, encode(code));
  return code;
}

StoredCode Program::make_variables(Jit& jit) {
  LoadedModule loaded = load();
  StoredCode code;
  const std::set<std::string> names = program_variables(*loaded.module, info_);
  code.variables.assign(names.begin(), names.end());
  if (names.empty()) return code;
  isolate_variables(*loaded.module, names);
  make_functions(*loaded.module, *jit.machine());
  code.object = jit.object(*loaded.module);
  return code;
}

// Compiled with -g and without optimisation.
bool is_for_debugger(const llvm::Module& module) {
  const auto units = module.debug_compile_units();
  return units.begin() != units.end() && !(*units.begin())->isOptimized();
}

Jit& Program::jit() {
  if (!jit_) {
    // Code for debuggers is not kept.
    auto made_jit = std::make_unique<Jit>(runtime_, !store_ && is_for_debugger(*load().module));
    const StoredCode code = made(key("variables", *made_jit), [&] { return make_variables(*made_jit); });
    variables_.insert(code.variables.begin(), code.variables.end());
    if (!code.object.empty()) made_jit->add(code.object);
    jit_ = std::move(made_jit);
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
  const std::lock_guard lock(mutex_);
  LoadedModule loaded = load();
  isolate_kernel(*loaded.module, kernel.symbol, {});
  drop_unreached(*loaded.module);
  return static_shared_bytes(*loaded.module);
}

StoredCode Program::make_threads_code(const KernelInfo& kernel, const CpuKernelOptions& options) {
  Jit& here = jit();
  LoadedModule loaded = load();
  program_variables(*loaded.module, info_);  // names those without
  isolate_kernel(*loaded.module, kernel.symbol, variables_);
  const ThreadCode code = make_threads(*loaded.module, kernel, options, *here.machine());
  return {.symbol = code.symbol, .object = here.object(*loaded.module), .shared_bytes = code.shared_bytes};
}

StoredCode Program::make_lanes_code(const KernelInfo& kernel, const CpuKernelOptions& options) {
  Jit& here = jit();
  LoadedModule loaded = load();
  program_variables(*loaded.module, info_);  // names those without
  isolate_kernel(*loaded.module, kernel.symbol, variables_);
  const lanes::Options how{.block = options.block,
                           .symbol = kernel.symbol + ".lanes" + text_of(options),
                           .width = options.width,
                           .print = env_integer("TRINE_DEBUG") >= 5};
  try {
    const lanes::Code code = lanes::vectorize(*loaded.module, kernel, how, *here.machine());
    return {.symbol = code.symbol,
            .object = here.object(*loaded.module),
            .shared_bytes = code.shared_bytes,
            .frame_bytes = code.frame_bytes,
            .width = uint32_t(code.width),
            .waits = code.waits};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {.why_none = error.what()};
  }
}

CpuKernel Program::kernel(const KernelInfo& kernel, const CpuKernelOptions& options) {
  const std::lock_guard lock(mutex_);
  const bool in_lanes = options.mode == compute::CpuMode::lanes;
  const std::string what = kernel.symbol + (in_lanes ? " lanes " + text_of(options) : " threads");
  if (const auto known = added_.find(what); known != added_.end()) return known->second;
  Jit& here = jit();
  const StoredCode code = made(key(what, here), [&] {
    return in_lanes ? make_lanes_code(kernel, options) : make_threads_code(kernel, options);
  });
  if (!code.why_none.empty()) throw Error(ErrorCode::unsupported, code.why_none);
  here.add(code.object);
  void* address = here.address(code.symbol);
  // Code of checked kernels is not kept: their tables lie beside it.
  void* checks = options.checks ? here.address(checks_symbol(kernel)) : nullptr;
  return added_[what] = {.run_thread = in_lanes ? nullptr : reinterpret_cast<ThreadFunction>(address),
                         .run_block = in_lanes ? reinterpret_cast<BlockFunction>(address) : nullptr,
                         .shared_bytes = code.shared_bytes,
                         .frame_bytes = code.frame_bytes,
                         .width = int(code.width),
                         .checks = static_cast<const CheckTable*>(checks),
                         .waits = code.waits != 0};
}

}  // namespace

std::unique_ptr<CpuProgram> load_cpu(const DeviceModule& module, std::span<const RuntimeSymbol> runtime) {
  return std::make_unique<Program>(module, runtime);
}

}  // namespace trine::simt
