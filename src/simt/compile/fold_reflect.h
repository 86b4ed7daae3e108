// `if (TRINE_ON_CPU)` of our headers, decided: see math_base.h.
#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

// __nvvm_reflect("__TRINE_CPU") is 1, and branches not taken go. On GPUs LLVM makes it 0, as all that it does not know.
void fold_reflect(llvm::Module& module);

}  // namespace trine::simt
