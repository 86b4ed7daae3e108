// A command of `trine`: a row of the table in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace trine::cli {

struct Command {
  const char* name;
  const char* doc;       // one line
  const char* examples;  // shown at the end of --help, one a line
  // Declares flags; returns what runs after parsing and gives the exit status. It throws Error on failure.
  std::function<int()> (*setup)(CLI::App& app);
};

std::function<int()> setup_build(CLI::App& app);
std::function<int()> setup_run(CLI::App& app);
std::function<int()> setup_bench(CLI::App& app);
std::function<int()> setup_inspect(CLI::App& app);
std::function<int()> setup_compare(CLI::App& app);
std::function<int()> setup_bisect(CLI::App& app);
std::function<int()> setup_reduce(CLI::App& app);
std::function<int()> setup_cc(CLI::App& app);
std::function<int()> setup_profile(CLI::App& app);
std::function<int()> setup_env(CLI::App& app);
std::function<int()> setup_doctor(CLI::App& app);

}  // namespace trine::cli
