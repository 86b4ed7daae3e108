// What the CPU needs to start a module a second time without compiling: the parsed source, and machine code of kernels,
// in the cache of cache.h.
#pragma once

#include <memory>

#include "simt/compiler.h"

namespace trine::simt {

// Null when no cache is kept. Debuggers and checks go without: they need what was compiled here and now.
std::shared_ptr<CodeStore> code_store(const compute::CompileOptions& options);

// As compiler().parse().
DeviceModule parse_or_find(std::string_view source, const compute::CompileOptions& options);

}  // namespace trine::simt
