// What a module of device code holds: its kernels, their parameters, its variables.
#pragma once

#include "simt/device_module.h"

namespace llvm {
class Module;
}

namespace trine::simt {

// Fills `kernels` and `variables`. Variables become visible, static ones where the module is a whole program; the mark
// of managed ones is taken away.
void describe(llvm::Module& module, DeviceModule& out, bool whole_program = true);

}  // namespace trine::simt
