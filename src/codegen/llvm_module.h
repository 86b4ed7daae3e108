// The one door into libtrine_llvm, opened with dlopen: what it takes and gives is known to libtrine_rt.
#pragma once

#include <span>

#include "codegen/object.h"

namespace trine::codegen {

// Compiles `kernels` for a CPU level into `object` (the same bytes for the same kernels). Returns the error's text,
// empty for success. extern "C" under this name.
constexpr const char* kCompileSymbol = "trine_llvm_compile";
using CompileFunction = std::string (*)(std::span<const LoopKernel* const> kernels, const std::string& cpu_level,
                                        ObjectCode& object);

}  // namespace trine::codegen
