// Opens libtrine_simt.
#include "simt/compiler.h"

#include <dlfcn.h>

#include <string>

#include "base/open_library.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr const char* kModule = "libtrine_simt.so";

const Compiler& open_compiler() {
  const OpenedLibrary library = open_library(kModule, reinterpret_cast<const void*>(&compiler));
  const auto function =
      library.handle ? reinterpret_cast<CompilerFunction>(dlsym(library.handle, "trine_simt_compiler")) : nullptr;
  if (!function)
    throw Error(ErrorCode::unsupported, std::string("compile: no ") + kModule + ": " +
                                            (library.handle ? "it is foreign" : library.why_not) +
                                            "; install it beside libtrine_compute");
  return function();
}

}  // namespace

const Compiler& compiler() {
  static const Compiler& opened = open_compiler();
  return opened;
}

}  // namespace trine::simt
