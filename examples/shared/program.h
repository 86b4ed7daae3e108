// What every example does: open a network, and end with the error's text and status when something fails.
#pragma once

#include <fmt/format.h>

#include "trine/base/error.h"
#include "trine/engine/build.h"

namespace examples {

// An engine file, or a model that is built first.
inline trine::Engine open(const std::string& path) {
  return path.ends_with(".trn") ? trine::Engine::open(path) : trine::build(trine::load(path));
}

// run(argc, argv) after checking that there are as many arguments as `usage` ("hear_speech MODEL SOUND.wav") names.
template <class Run>
int program(int argc, char** argv, int least, int most, const char* usage, Run run) {
  if (argc - 1 < least || argc - 1 > most) {
    fmt::print(stderr, "error: {} arguments; {}\n", argc - 1, usage);
    return static_cast<int>(trine::ErrorCode::invalid_argument);
  }
  try {
    return run(argc, argv);
  } catch (const trine::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}

}  // namespace examples
