// Checked code of the mode threads: every access of memory is told to the checker (check/abi.h).
//
// Runs on code that is lowered and not yet optimised, so that no pass has used what a fault would make undefined; what
// is optimised afterwards are also the checks. Accesses of a thread's own variables that lie within them by their
// constant offset need none and become registers as ever.
#pragma once

#include <cstdint>
#include <string>

namespace llvm {
class Module;
}

namespace trine::simt {

// Before shared variables are laid out. Defines `table`, a CheckTable; functions named `entry` are left alone.
void add_checks(llvm::Module& module, uint32_t checks, const std::string& entry, const std::string& table);

}  // namespace trine::simt
