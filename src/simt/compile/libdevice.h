// Functions of NVIDIA's libdevice that a module calls and does not define.
#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

// Adds those of headers/trine_libdevice.h that are declared.
void link_libdevice(llvm::Module& module);

}  // namespace trine::simt
