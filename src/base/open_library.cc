#include "base/open_library.h"

#include <dlfcn.h>

namespace trine {

OpenedLibrary open_library(const std::string& name, const void* function) {
  OpenedLibrary library;
  Dl_info here;
  if (dladdr(function, &here) && here.dli_fname) {
    const std::string path = here.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos)
      library.handle = dlopen((path.substr(0, slash + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library.handle) library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle) return library;
  const char* why = dlerror();
  library.why_not = why ? why : "it cannot be opened";
  return library;
}

}  // namespace trine
