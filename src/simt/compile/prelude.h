// The prelude, what every kernel sees without an #include, precompiled once for each set of language arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace trine::simt {

// A precompiled header. Throws Error{unsupported} with clang's messages when our own headers do not compile.
std::shared_ptr<const std::string> prelude(const std::vector<std::string>& language_arguments);

}  // namespace trine::simt
