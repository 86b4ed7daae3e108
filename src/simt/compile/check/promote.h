// Local variables that are single values become registers, before checks are added.
#pragma once

#include <string>

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace trine::simt {

void promote_scalars(llvm::Function& function);

// The source's name of an alloca or a parameter; "" when it is not known.
std::string local_name(const llvm::Value& variable);

}  // namespace trine::simt
