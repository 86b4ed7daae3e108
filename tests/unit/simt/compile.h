// How these tests call the compiler.
#pragma once

#include <string>
#include <string_view>

#include "simt/compiler.h"
#include "trine/base/error.h"

namespace trine::simt {

inline DeviceModule parsed(std::string_view source, const compute::CompileOptions& options = {}) {
  return compiler().parse(source, options);
}

// The message of the Error that the source must meet with.
inline std::string refused(std::string_view source, const compute::CompileOptions& options = {}) {
  try {
    compiler().parse(source, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "it was accepted";
}

}  // namespace trine::simt
