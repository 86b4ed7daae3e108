// What compiled code depends on, as a key of Cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trine/compute/module.h"

namespace trine::simt {

// Of the compiler: its sources' hash.
std::string_view compiler_stamp();

// Of the source, the options that change code, the text of every file that it includes from include_dirs, this
// version of Trine and of its compiler, and `target` ("ptx sm_90 80"). No path is in it: what one machine compiled,
// another finds. Nothing when it cannot be told what the source includes: it is then compiled each time.
std::optional<std::string> cache_key(std::string_view source, const compute::CompileOptions& options,
                                     std::string_view target);

}  // namespace trine::simt
