// A command of `trine`, run inside a test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trine/base/error.h"
#include "trine/command.h"

namespace trine::cli {

using Setup = std::function<int()> (*)(CLI::App&);

// `trine <words>`; returns what it would print as an error, empty when it succeeds.
inline std::string run_command(Setup setup, const std::vector<std::string>& words) {
  CLI::App app("", "trine");
  const auto action = setup(*app.add_subcommand(words[0], ""));
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  try {
    return action() == 0 ? "" : "failed without an error";
  } catch (const Error& e) {
    return e.what();
  }
}

struct Told {
  std::string out, error;
};
// As run_command, with what it prints on stdout.
inline Told tell_command(Setup setup, const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  const std::string error = run_command(setup, words);
  return {testing::internal::GetCapturedStdout(), error};
}

}  // namespace trine::cli
