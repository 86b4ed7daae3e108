// The runtime's functions by name, for the compiler.
#pragma once

#include <span>

#include "simt/compiler.h"

namespace trine::simt {

std::span<const RuntimeSymbol> runtime_symbols();

}  // namespace trine::simt
