#include "engine/build/compile.h"

#include <dlfcn.h>

#include <string>

#include "trine/base/error.h"

namespace trine {
namespace {

constexpr const char* kModule = "libtrine_llvm.so";

struct Module {
  codegen::CompileFunction compile = nullptr;
  std::string why_not;
};

// Looks beside the library (or program) that holds this function, then where the system looks.
Module open_module() {
  Module module;
  void* handle = nullptr;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&can_compile_kernels), &here) && here.dli_fname) {
    const std::string path = here.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos)
      handle = dlopen((path.substr(0, slash + 1) + kModule).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) handle = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    module.why_not = why ? why : "it cannot be opened";
    return module;
  }
  const auto stamp = reinterpret_cast<codegen::StampFunction>(dlsym(handle, "trine_llvm_stamp"));
  if (stamp && std::string_view(stamp()) == TRINE_CODEGEN_STAMP)
    module.compile = reinterpret_cast<codegen::CompileFunction>(dlsym(handle, "trine_llvm_compile"));
  if (!module.compile) module.why_not = "it belongs to another build of this library";
  return module;
}

const Module& module() {
  static const Module opened = open_module();
  return opened;
}

}  // namespace

bool can_compile_kernels() { return module().compile != nullptr; }
const std::string& why_no_compiler() { return module().why_not; }

codegen::CompileResult compile_kernels(std::span<const codegen::LoopKernel* const> kernels,
                                       std::string_view cpu_level) {
  if (!module().compile) {
    throw Error(ErrorCode::unsupported, std::string("machine code: no ") + kModule + ": " + module().why_not +
                                            "; install it beside the library, or run without machine code");
  }
  codegen::CompileResult result;
  module().compile({kernels, cpu_level}, result);
  return result;
}

}  // namespace trine
