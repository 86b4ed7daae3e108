#include "trine/base/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace trine {

std::string Error::code_text() const { return fmt::format("TRN-{:04}", static_cast<int>(code_)); }

void check_failed(const char* condition, const char* file, int line, const std::string& values) {
  std::fprintf(stderr, "trine: internal check failed: %s %s (%s:%d)\n", condition, values.c_str(), file, line);
  std::abort();
}

}  // namespace trine
