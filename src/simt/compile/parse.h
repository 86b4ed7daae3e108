// clang in process: CUDA C++ to LLVM IR of nvptx64; see Compiler::parse.
#pragma once

#include "simt/compiler.h"

namespace trine::simt {

DeviceModule parse(std::string_view source, const compute::CompileOptions& options);

}  // namespace trine::simt
