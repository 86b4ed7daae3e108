// The variables of a program on the CPU: they live once, and kernels that are compiled one by one share them.
#pragma once

#include <set>
#include <string>

#include "simt/device_module.h"

namespace llvm {
class Module;
}

namespace trine::simt {

// Names of the variables that live in the program: those that can be written, and those that the host may ask for.
std::set<std::string> program_variables(llvm::Module& module, const DeviceModule& info);

// Leaves `kernel` and what it reaches; `variables` become declarations.
void isolate_kernel(llvm::Module& module, const std::string& kernel, const std::set<std::string>& variables);

// Leaves the variables, visible, and what their initialisers point at.
void isolate_variables(llvm::Module& module, const std::set<std::string>& variables);

}  // namespace trine::simt
