// Opens libtrine_simt: beside the library that holds this function, then where the system looks.
#include "simt/compiler.h"

#include <dlfcn.h>

#include <string>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr const char* kModule = "libtrine_simt.so";

const Compiler& open_compiler() {
  void* handle = nullptr;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&compiler), &here) && here.dli_fname) {
    const std::string path = here.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos)
      handle = dlopen((path.substr(0, slash + 1) + kModule).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) handle = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  const char* why = handle ? nullptr : dlerror();
  const auto function = handle ? reinterpret_cast<CompilerFunction>(dlsym(handle, "trine_simt_compiler")) : nullptr;
  if (!function)
    throw Error(ErrorCode::unsupported, std::string("compile: no ") + kModule + ": " + (why ? why : "it is foreign") +
                                            "; install it beside libtrine_compute");
  return function();
}

}  // namespace

const Compiler& compiler() {
  static const Compiler& opened = open_compiler();
  return opened;
}

}  // namespace trine::simt
