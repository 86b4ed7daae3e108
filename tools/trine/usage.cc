#include "usage.h"

#include <fmt/format.h>

namespace trine::cli {

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  std::string where = "trine";
  for (const CLI::App* command : app.get_subcommands()) where += " " + command->get_name();
  std::string what = error.what();  // CLI11's own words
  while (!what.empty() && (what.back() == '.' || what.back() == '\n')) what.pop_back();
  return fmt::format("{}: {}; see {} --help", where, what, where);
}

}  // namespace trine::cli
