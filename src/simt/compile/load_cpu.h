// LLVM IR of nvptx64 to machine code of this CPU; see Compiler::load_cpu.
#pragma once

#include "simt/compiler.h"

namespace trine::simt {

std::unique_ptr<CpuProgram> load_cpu(const DeviceModule& module, std::span<const RuntimeSymbol> runtime);

}  // namespace trine::simt
