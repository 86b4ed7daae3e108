// From nvptx64 to calls of the runtime.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class GlobalVariable;
class TargetMachine;
}  // namespace llvm

namespace trine::simt {

// Writes the replacement of one call in front of it.
class Lowering {
 public:
  explicit Lowering(llvm::CallInst& call) : build(&call), call_(call) {}

  llvm::IRBuilder<> build;
  llvm::Value* argument(unsigned i) const { return call_.getArgOperand(i); }
  llvm::Type* type() const { return call_.getType(); }

  llvm::CallInst* runtime(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* thread();                      // const ThreadState*
  llvm::Value* thread_word(uint64_t offset);  // a uint32_t of it
  llvm::Value* block();
  llvm::Value* block_word(uint64_t offset);
  llvm::Value* block_pointer(uint64_t offset);
  llvm::Value* shared();          // BlockState::shared
  llvm::Value* lane();            // linear % 32
  void note_place();              // ThreadState::where, when the call's line is known
  bool replace(llvm::Value* by);  // the call goes; null when it has no result. Returns true

 private:
  llvm::LoadInst* invariant(llvm::Type* type, llvm::Value* base, uint64_t offset);
  llvm::CallInst& call_;
};

// Each returns false when the intrinsic is none of its own.
bool lower_identity(Lowering& lower, llvm::IntrinsicInst& call);    // threadIdx, %laneid, clocks, address spaces
bool lower_collective(Lowering& lower, llvm::IntrinsicInst& call);  // barriers, shuffles, votes
bool lower_arithmetic(Lowering& lower, llvm::IntrinsicInst& call);  // what other machines have by other names

// All of the module: triple and layout, attributes, intrinsics, functions known by name.
void lower_module(llvm::Module& module, llvm::TargetMachine& machine);

// Variables of address space 3 become offsets; returns the bytes of the static ones.
uint32_t lay_out_shared(llvm::Module& module);
// Where they will be: each variable with its offset from the start of the block's arena.
std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> shared_places(llvm::Module& module);
uint32_t static_shared_bytes(const llvm::Module& module);

// "kernel.cu:12"; "" when not known. Functions of the device headers stand where they are called.
std::string place_text(const llvm::DebugLoc& where);

// The scope of fences that order for threads of one block only.
llvm::SyncScope::ID block_scope(llvm::LLVMContext& context);

}  // namespace trine::simt
