// LLVM's JIT for the machine that this runs on: modules of IR in, addresses out.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "simt/compiler.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace trine::simt {

class Jit {
 public:
  Jit(std::span<const RuntimeSymbol> runtime, bool debug);  // throws Error
  ~Jit();

  std::unique_ptr<llvm::TargetMachine> machine() const;
  void add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context);
  void* address(const std::string& symbol);  // compiles what it is in

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trine::simt
