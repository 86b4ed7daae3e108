// What a module of device code holds: its kernels, their parameters, its variables.
#pragma once

#include "simt/device_module.h"

namespace llvm {
class Module;
}

namespace trine::simt {

// Fills `kernels` and `variables`. Takes the mark of managed variables from the module.
void describe(llvm::Module& module, DeviceModule& out);

}  // namespace trine::simt
