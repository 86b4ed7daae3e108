#include "simt/compile/texture_runtime.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include "simt/compile/parse.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr const char* kGpuSource = "#include <trine_texture_ptx.h>\n#include <trine_surface_ptx.h>\n";
constexpr const char* kCpuSource = "#include <trine_texture_cpu.h>\n#include <trine_surface_cpu.h>\n";

bool is_wanted(const llvm::Function& function) {
  return function.isDeclaration() &&
         (function.getName().contains("__trine_tex_") || function.getName().contains("__trine_surf_"));
}

const DeviceModule& runtime(bool gpu) {
  if (gpu) {
    static const DeviceModule instructions = parse(kGpuSource, {.name = "textures.cu"});
    return instructions;
  }
  static const DeviceModule code = parse(kCpuSource, {.name = "textures.cu"});
  return code;
}

}  // namespace

void link_texture_runtime(llvm::Module& module, bool gpu) {
  if (llvm::none_of(module, is_wanted)) return;
  // Lazily: a kernel needs few of its functions.
  auto added = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(runtime(gpu).bitcode, "textures"), module.getContext());
  if (!added || llvm::Linker::linkModules(module, std::move(*added), llvm::Linker::LinkOnlyNeeded))
    throw Error(ErrorCode::unsupported, "compile: the code of textures cannot be linked");
}

}  // namespace trine::simt
