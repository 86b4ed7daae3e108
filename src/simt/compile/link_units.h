// Device code of several sources: what each defines for the others and wants of them, and one module of all.
#pragma once

#include <span>

#include "simt/device_module.h"

namespace llvm {
class Module;
}

namespace trine::simt {

// Static variables that the host reaches are named `x__static__<unit>` by clang, which refers to `x` in what it
// compiled before it saw the host's use: one variable again. Its list of what the host uses of other units goes.
void prepare_unit(llvm::Module& module);
// Fills `defined`, `shared` and `wanted`.
void describe_links(const llvm::Module& module, DeviceModule& out);
// See Compiler::link.
DeviceModule link_units(std::span<const DeviceModule* const> units);

}  // namespace trine::simt
