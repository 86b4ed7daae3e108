#include "engine/build/compile.h"

#include <dlfcn.h>

#include <string>

#include "base/open_library.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr const char* kModule = "libtrine_llvm.so";

struct Module {
  codegen::CompileFunction compile = nullptr;
  std::string why_not;
};

Module open_module() {
  Module module;
  const OpenedLibrary library = open_library(kModule, reinterpret_cast<const void*>(&can_compile_kernels));
  module.why_not = library.why_not;
  if (!library.handle) return module;
  const auto stamp = reinterpret_cast<codegen::StampFunction>(dlsym(library.handle, "trine_llvm_stamp"));
  if (stamp && std::string_view(stamp()) == TRINE_CODEGEN_STAMP)
    module.compile = reinterpret_cast<codegen::CompileFunction>(dlsym(library.handle, "trine_llvm_compile"));
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
