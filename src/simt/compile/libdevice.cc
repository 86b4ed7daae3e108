#include "simt/compile/libdevice.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include <algorithm>

#include "simt/compile/parse.h"
#include "trine/base/error.h"

namespace trine::simt {

void link_libdevice(llvm::Module& module) {
  const bool wanted = std::any_of(module.begin(), module.end(), [](const llvm::Function& function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty();
  });
  if (!wanted) return;
  static const DeviceModule library = parse("#include <trine_libdevice.h>\n", {.name = "libdevice.cu"});
  auto added = llvm::parseBitcodeFile(llvm::MemoryBufferRef(library.bitcode, "libdevice"), module.getContext());
  if (!added || llvm::Linker::linkModules(module, std::move(*added), llvm::Linker::LinkOnlyNeeded))
    throw Error(ErrorCode::unsupported, "libdevice: its code cannot be linked");
}

}  // namespace trine::simt
