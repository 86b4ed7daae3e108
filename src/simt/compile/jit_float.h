// Conversions of narrow floats that LLVM calls where the CPU has no instruction for them.
#pragma once

#include <span>

#include "simt/compiler.h"

namespace trine::simt {

std::span<const RuntimeSymbol> float_conversions();

}  // namespace trine::simt
