// The command lines of the test programs: a folder of cases, and options that each take a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>

namespace trine::conformance {

struct Option {
  const char* name;
  std::variant<std::string*, uint64_t*, double*> value;
};

// The folder. Throws Error for an unknown option, a value that is missing or no number, no folder or several.
std::string read_options(int argc, char** argv, std::initializer_list<Option> options);

}  // namespace trine::conformance
