// What a module of device code holds: its kernels, their parameters, its variables.
#pragma once

#include "simt/device_module.h"

namespace llvm {
class Module;
}

namespace trine::simt {

// Fills `kernels` and `variables`. Variables become visible; the mark of managed ones is taken away.
void describe(llvm::Module& module, DeviceModule& out);

}  // namespace trine::simt
