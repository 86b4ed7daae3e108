// Kernels and variables of a module by the names that people write.
#pragma once

#include <string_view>

#include "simt/device_module.h"

namespace trine::simt {

// "scale", "scale<float>", "void scale<float>(float*)" or the mangled name; spaces do not matter. Null when there is
// none; Error{invalid_argument} when several kernels differ in their parameters only.
const KernelInfo* find_kernel(const DeviceModule& module, std::string_view name);
const VariableInfo* find_variable(const DeviceModule& module, std::string_view name);

}  // namespace trine::simt
