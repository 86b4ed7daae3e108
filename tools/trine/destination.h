// Paths to write to, checked before the work whose result they receive.
#pragma once

#include <string>
#include <vector>

namespace trine::cli {

// Throws Error: io when nothing can be written there, invalid_argument when it is one of the files that are read.
void check_destination(const std::string& flag, const std::string& path, const std::vector<std::string>& read);

// The files among --input's values.
std::vector<std::string> files_of(const std::vector<std::string>& specs);

}  // namespace trine::cli
