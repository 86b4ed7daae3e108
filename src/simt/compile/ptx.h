// LLVM IR to PTX; see Compiler::ptx.
#pragma once

#include "simt/compiler.h"

namespace trine::simt {

std::string ptx(const DeviceModule& module, std::string_view architecture, int version, bool fast_math);

}  // namespace trine::simt
