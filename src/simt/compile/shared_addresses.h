#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

inline constexpr const char* kSharedArena = "trine.shared.arena";  // a variable that begins where the arena does

// Precondition: not optimised; address spaces are still those of the source.
void offset_shared_addresses(llvm::Module& module);

}  // namespace trine::simt
