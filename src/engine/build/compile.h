// Machine code for loop kernels: opens the module libtrine_llvm the first time it is needed.
#pragma once

#include "codegen/compile.h"

namespace trine {

// Is the module there? False in an installation without LLVM: loop kernels then run in the interpreter.
bool can_compile_kernels();
const std::string& why_no_compiler();  // empty when it can

// Compiles for one CPU level ("baseline", "avx2", "avx512"). Throws Error{unsupported} when the module is not there.
codegen::CompileResult compile_kernels(std::span<const codegen::LoopKernel* const> kernels, std::string_view cpu_level);

}  // namespace trine
