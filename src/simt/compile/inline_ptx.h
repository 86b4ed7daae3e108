// Inline PTX of one instruction, in the forms that libraries use, as LLVM IR.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>
#include <vector>

namespace trine::simt {

// "bfe.u32 %0, %1, 5;" with what it is called with.
class PtxStatement {
 public:
  // False when it is more than one instruction, or has operands that are not understood.
  bool parse(llvm::CallInst& call);

  llvm::CallInst* call = nullptr;
  std::vector<std::string> opcode;        // {"ld", "volatile", "u32"}
  std::vector<std::string> destinations;  // of outputs; in the order of the instruction
  std::vector<std::string> sources;
  bool is(const char* name) const { return opcode[0] == name; }
  bool has(const char* part) const;

  llvm::Value* source(size_t i, llvm::Type* type) const;  // as this type; null when it is not understood
  llvm::Value* address(llvm::IRBuilder<>& build, const std::string& text, unsigned space) const;
  // Gives each output its value, in the order of `destinations`. The call goes.
  void finish(llvm::IRBuilder<>& build, const std::vector<llvm::Value*>& values) const;

 private:
  llvm::Value* operand(const std::string& text) const;
  std::vector<llvm::Value*> inputs_;  // by number of the operand; outputs: what they hold before, or null
  size_t outputs_ = 0;
};

void translate_inline_ptx(llvm::Module& module);  // what is not translated stays
// What stayed becomes calls of functions (inline_ptx_source.h); an asm without one keeps the reason as "trine.why".
void call_ptx_functions(llvm::Module& module);

// Each returns false when the instruction is none of its own.
bool translate_memory(const PtxStatement& statement);
bool translate_bits(const PtxStatement& statement);
bool translate_machine(const PtxStatement& statement);  // special registers, barriers, shuffles

}  // namespace trine::simt
