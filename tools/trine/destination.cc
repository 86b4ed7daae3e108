#include "destination.h"

#include <fmt/format.h>

#include <filesystem>

#include "trine/base/error.h"
#include "trine/base/replace_file.h"

namespace trine::cli {

void check_destination(const std::string& flag, const std::string& path, const std::vector<std::string>& read) {
  for (const std::string& other : read) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::equivalent(path, other, ignored)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} {}: is the file {} that is read; give another path", flag, path, other));
    }
  }
  check_replaceable(path);
}

std::vector<std::string> files_of(const std::vector<std::string>& specs) {
  std::vector<std::string> files;
  for (const std::string& spec : specs) {
    for (const std::string& path : {spec, spec.substr(spec.find('=') + 1)}) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(path, ignored)) files.push_back(path);
    }
  }
  return files;
}

}  // namespace trine::cli
