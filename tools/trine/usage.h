// What is wrong with a command line, as `<where>: <what was got>; <what to do>`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace trine::cli {

// `words` are those of the command line, without the program's name.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words);

// The one of `known` that `word` most likely meant; empty when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// Checks of an option's value.
std::string at_least_zero(const std::string& text);
std::string above_zero(const std::string& text);

}  // namespace trine::cli
