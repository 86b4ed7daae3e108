// Functions of the runtime that kernels call by name and PTX has no instruction for; their code, for GPUs.
#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

// Adds the definitions that the module lacks: trine_simt_grid_sync().
void link_ptx_runtime(llvm::Module& module);

}  // namespace trine::simt
