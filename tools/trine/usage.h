// What is wrong with a command line, as `<where>: <what was got>; <what to do>`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace trine::cli {

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace trine::cli
