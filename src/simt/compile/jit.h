// LLVM's JIT for the machine that this runs on: modules of IR in, addresses out.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "simt/compiler.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace trine::simt {

class Jit {
 public:
  Jit(std::span<const RuntimeSymbol> runtime, bool debug);  // throws Error
  ~Jit();

  std::unique_ptr<llvm::TargetMachine> machine() const;
  std::string object(llvm::Module& module) const;  // compiled: a relocatable file
  void add(const std::string& object);
  void* address(const std::string& symbol);
  std::string target() const;  // processor and features that code is made for

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trine::simt
