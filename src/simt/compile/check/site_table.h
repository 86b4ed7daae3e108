// The tables of check/abi.h, written into the module that they describe.
#pragma once

#include <llvm/IR/Instruction.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simt/check/abi.h"

namespace llvm {
class GlobalVariable;
class Module;
}  // namespace llvm

namespace trine::simt {

// "tile" of "kernel(int*)::tile".
std::string variable_name(const llvm::GlobalVariable& variable);

class SiteTable {
 public:
  explicit SiteTable(llvm::Module& module) : module_(module) {}

  // `bytes` 0: they come with each call. `variable`: of the thread, when the address is computed from one.
  uint32_t add(const llvm::Instruction& at, uint64_t bytes, uint32_t flags, uint64_t align,
               const std::string& variable = "");
  // Defines `symbol`, a CheckTable. Variables are those of the module as it is now.
  void write(const std::string& symbol, uint32_t checks);

 private:
  struct Row {
    std::string place, variable;
    uint32_t bytes, flags, align;
  };
  llvm::Module& module_;
  std::vector<Row> rows_;
};

}  // namespace trine::simt
