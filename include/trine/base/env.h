// Every environment variable that Trine reads stands in one table; `trine env` prints it. Nothing else calls getenv.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trine {

struct EnvVariable {
  std::string_view name;
  std::string_view otherwise;  // value when unset; empty: none
  std::string_view meaning;
};

std::span<const EnvVariable> env_variables();

// Value of a variable of the table, or its default. A name that is not in the table is a bug and stops the program.
std::string env_text(std::string_view name);
// The same as an integer; Error{invalid_argument} when it is none or out of the variable's range.
int64_t env_integer(std::string_view name);
// Error{invalid_argument} for the first variable whose value nothing accepts, before it is needed.
void check_environment();
// The same, split at commas, without empty items.
std::vector<std::string> env_list(std::string_view name);

// TRINE_DEBUG, read once. Each level shows what the lower ones show too.
enum class DebugLevel : int { none, devices, times, choices, source, graphs };
bool debug_shows(DebugLevel level);

}  // namespace trine
