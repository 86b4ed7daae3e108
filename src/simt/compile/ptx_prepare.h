// Makes a module of device code one for PTX, before it is optimised.
#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

// Only kernels and variables stay visible; what parse wrote about its own target goes; atomics get the scopes that PTX
// has; with `fast_math`, f32 division and square root are approximate and denormals are zero.
void prepare_for_ptx(llvm::Module& module, bool fast_math);

}  // namespace trine::simt
