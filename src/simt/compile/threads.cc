#include "simt/compile/threads.h"

#include <llvm/IR/Module.h>

#include "simt/compile/check/instrument.h"
#include "simt/compile/threads_lower.h"

namespace trine::simt {
namespace {

uint32_t lower_and_optimize(llvm::Module& module, llvm::TargetMachine& machine, bool debug, bool checked) {
  const uint32_t shared_bytes = lay_out_shared(module);
  optimize(module, machine, debug, checked);
  check_calls(module);
  add_yields(module, !debug);
  return shared_bytes;
}

}  // namespace

ThreadCode make_threads(llvm::Module& module, const KernelInfo& kernel, const CpuKernelOptions& options,
                        llvm::TargetMachine& machine) {
  drop_unreached(module);
  lower_module(module, machine);
  if (options.debug) add_debug_locals(module);
  ThreadCode code{"trine.thread." + kernel.symbol, 0};
  add_entry(module, kernel, code.symbol);
  if (options.checks) {
    add_checks(module, options.checks, code.symbol, checks_symbol(kernel));
  }
  code.shared_bytes = lower_and_optimize(module, machine, options.debug, options.checks != 0);
  return code;
}

void make_functions(llvm::Module& module, llvm::TargetMachine& machine) {
  drop_unreached(module);
  lower_module(module, machine);
  lower_and_optimize(module, machine, false, false);
}

}  // namespace trine::simt
