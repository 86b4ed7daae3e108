// Mode threads: a kernel of nvptx64 becomes a function that one CUDA thread runs, calling the runtime for what it
// shares with others (run/abi.h).
//
//   isolate        the kernel and what it reaches; variables of the program become declarations   threads_globals.h
//   lower          triple, attributes, intrinsics, calls by name, shared variables                 threads_lower.h
//   add_debug_locals   with `debug`: threadIdx and shared variables as debuggers see them      threads_debug.cc
//   add_entry      a ThreadFunction that takes the parameters from their block
//   add_checks     with CpuKernelOptions::checks                                                 check/instrument.h
//   optimize       as for any CPU
//   add_yields     loops that wait for other threads let them run
//   check_calls    what has no meaning here is an error that names it
#pragma once

#include <string>
#include <string_view>

#include "simt/compiler.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace trine::simt {

struct ThreadCode {
  std::string symbol;  // of the ThreadFunction
  uint32_t shared_bytes = 0;
};

// Of the CheckTable beside a kernel that is checked.
inline std::string checks_symbol(const KernelInfo& kernel) { return "trine.checks." + kernel.symbol; }

// `module` is the whole of a program and holds the code of one kernel afterwards. Throws Error{unsupported}.
ThreadCode make_threads(llvm::Module& module, const KernelInfo& kernel, const CpuKernelOptions& options,
                        llvm::TargetMachine& machine);

// Code that the initialisers of variables point at.
void make_functions(llvm::Module& module, llvm::TargetMachine& machine);

void add_debug_locals(llvm::Module& module);
void add_entry(llvm::Module& module, const KernelInfo& kernel, const std::string& symbol);
void add_yields(llvm::Module& module, bool optimized);
void check_calls(const llvm::Module& module);
bool is_known_function(std::string_view name);  // of the runtime, or of the C library

// Intrinsics that nothing reaches are no error: call this on what is left. The passes that an optimisation level has.
// Checked code is not vectorised: it calls the checker for each access.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool debug, bool checked = false);
void drop_unreached(llvm::Module& module);

}  // namespace trine::simt
