// Libraries that are opened when they are needed, rather than linked.
#pragma once

#include <string>

namespace trine {

struct OpenedLibrary {
  void* handle = nullptr;  // of dlopen; never closed
  std::string why_not;     // when there is none
};

// `name` beside the library or program that holds `function`; else where the system looks.
OpenedLibrary open_library(const std::string& name, const void* function);

}  // namespace trine
