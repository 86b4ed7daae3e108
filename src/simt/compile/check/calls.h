// How code that the checks add is written.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "simt/compile/check/accesses.h"

namespace trine::simt {

// A function of check/abi.h.
inline llvm::CallInst* call_checker(llvm::IRBuilder<>& build, llvm::Type* result, llvm::StringRef name,
                                    llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module& module = *build.GetInsertBlock()->getModule();
  auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  return build.CreateCall(callee, arguments);
}

// Instructions of the checker are not checked themselves.
template <class Instruction>
Instruction* own(Instruction* at) {
  at->setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(at->getContext(), {}));
  return at;
}

inline llvm::MDNode* unlikely(llvm::LLVMContext& context) {
  return llvm::MDBuilder(context).createUnlikelyBranchWeights();
}

inline llvm::Value* address_of(const Access& access, llvm::IRBuilder<>& build) {
  return build.CreatePtrToInt(access.address, build.getInt64Ty());
}

inline llvm::Value* length_of(const Access& access, llvm::IRBuilder<>& build) {
  return access.length ? build.CreateZExtOrTrunc(access.length, build.getInt64Ty()) : build.getInt64(access.bytes);
}

}  // namespace trine::simt
