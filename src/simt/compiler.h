// The module libtrine_simt: clang's front end, our passes and LLVM's back ends. Opened with dlopen by libtrine_compute,
// never linked. Everything here throws Error; all functions may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simt/check/abi.h"
#include "simt/device_module.h"
#include "simt/run/abi.h"
#include "trine/compute/module.h"

namespace trine::simt {

// A function of the runtime that kernels call by name; see run/abi.h.
struct RuntimeSymbol {
  const char* name;
  void* address;
};

struct CpuKernelOptions {
  compute::CpuMode mode = compute::CpuMode::threads;  // not automatic
  compute::Dim3 block;                                // lanes: code is made for blocks of this shape
  int width = 0;                                      // lanes of a vector: 8, 16 or 32; 0: the compiler chooses
  bool debug = false;
  uint32_t checks = 0;  // CheckBit's
};

// Machine code of one kernel, valid as long as its CpuProgram.
struct CpuKernel {
  ThreadFunction run_thread = nullptr;  // mode threads
  BlockFunction run_block = nullptr;    // mode lanes
  uint32_t shared_bytes = 0;            // static shared memory, at the start of the block's arena
  uint32_t frame_bytes = 0;             // lanes: what a block keeps across barriers
  int width = 1;                        // lanes of a vector
  const CheckTable* checks = nullptr;   // with checks
  bool waits = false;                   // lanes: blocks may wait for those before them
};

// Machine code that outlives the process. Keys are file names; what is not there is compiled. Any thread.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  virtual void store(const std::string& key, std::string_view bytes) = 0;
};

// A module on the CPU: its variables, and code for its kernels, made when asked for.
class CpuProgram {
 public:
  virtual ~CpuProgram() = default;
  virtual void* variable(std::string_view symbol) = 0;  // null when there is none; initialised
  // Throws Error{unsupported} when lanes cannot run this kernel: the reason; threads always can.
  virtual CpuKernel kernel(const KernelInfo& kernel, const CpuKernelOptions& options) = 0;
  // Before the first use: code is looked for there, and what is compiled is kept there. Not for debuggers.
  virtual void use_store(std::shared_ptr<CodeStore> store) = 0;
  // Static shared memory of a kernel, for which no code is made.
  virtual uint32_t shared_bytes(const KernelInfo& kernel) = 0;
};

// What the module exports as "trine_simt_compiler".
struct Compiler {
  DeviceModule (*parse)(std::string_view source, const compute::CompileOptions& options);
  // `architecture` as in "sm_90"; `version` 80 is PTX 8.0.
  std::string (*ptx)(const DeviceModule& module, std::string_view architecture, int version, bool fast_math);
  std::unique_ptr<CpuProgram> (*load_cpu)(const DeviceModule& module, std::span<const RuntimeSymbol> runtime);
  // Names and texts of our <cuda_runtime.h> and what it includes.
  std::vector<std::pair<std::string, std::string>> (*device_headers)();
  // One module of what compile_program() made of several sources. Throws Error{invalid_argument} naming what two of
  // them define and what none does.
  DeviceModule (*link)(std::span<const DeviceModule* const> units);
};
using CompilerFunction = const Compiler& (*)();

// The compiler of this installation. Throws Error{unsupported} that says why there is none.
const Compiler& compiler();

}  // namespace trine::simt
