#include "trine/compute/vendor_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <cstdlib>

namespace trine::compute {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

// Patterns of folders, in the order in which they are looked through.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = variable(name); !home.empty())
      for (const char* part : {"/lib64", "/lib"}) found.push_back(home + part);
  for (const char* part : {"/lib64", "/lib", "/targets/*/lib"})
    for (const char* toolkit : {"/usr/local/cuda", "/usr/local/cuda-*"}) found.push_back(std::string(toolkit) + part);
  std::vector<std::string> roots;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string root = variable(name); !root.empty()) roots.push_back(root);
  if (const std::string home = variable("HOME"); !home.empty()) roots.push_back(home + "/.local");
  roots.insert(roots.end(), {"/usr/local", "/usr", "/opt/conda", "/opt/*"});
  for (const std::string& root : roots) {
    for (const char* packages : {"site-packages", "dist-packages"})
      found.push_back(fmt::format("{}/lib/python3*/{}/nvidia/*/lib", root, packages));
    found.push_back(root + "/lib");
  }
  return found;
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

std::string last_error() {
  const char* why = dlerror();
  return why ? why : "it cannot be opened";
}

std::string path_of(void* handle, const std::string& name) {
  char folder[4096] = {};
  return dlinfo(handle, RTLD_DI_ORIGIN, folder) == 0 ? fmt::format("{}/{}", folder, name) : name;
}

}  // namespace

VendorLibrary open_vendor_library(const std::vector<std::string>& names) {
  VendorLibrary library;
  for (const std::string& name : names) {
    library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
      library.path = path_of(library.handle, name);
      return library;
    }
    dlerror();
  }
  for (const std::string& folder : folders())
    for (const std::string& name : names)
      for (const std::string& path : matching(folder + "/" + name)) {
        library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle) {
          library.path = path;
          library.problem.clear();
          return library;
        }
        if (library.problem.empty()) library.problem = fmt::format("{}: {}", path, last_error());
      }
  if (library.problem.empty()) library.problem = "not found";
  return library;
}

}  // namespace trine::compute
