// `trine cc -rdc=true`: the host's part of a unit, so that a linker puts units together.
#pragma once

#include <string>

#include "trine/compute/program.h"

namespace trine::cli {

// What clang wrote for the host's part, as it is to be assembled.
std::string unit_assembly(std::string text, const compute::CompiledProgram& program);

}  // namespace trine::cli
