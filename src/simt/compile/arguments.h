// clang's command line for a kernel's options.
#pragma once

#include <string>
#include <vector>

#include "trine/compute/module.h"

namespace trine::simt {

// What decides how headers read: the same arguments, the same precompiled prelude. Throws Error{invalid_argument}.
std::vector<std::string> language_arguments(const compute::CompileOptions& options);

// The user's macros and folders.
std::vector<std::string> source_arguments(const compute::CompileOptions& options);

}  // namespace trine::simt
