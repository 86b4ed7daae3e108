#include "simt/compile/fold_reflect.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <set>
#include <vector>

namespace trine::simt {
namespace {

bool asks_for_cpu(const llvm::CallInst& call) {
  const auto* text = llvm::dyn_cast<llvm::GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
  const auto* data =
      text && text->hasInitializer() ? llvm::dyn_cast<llvm::ConstantDataSequential>(text->getInitializer()) : nullptr;
  return data && data->isCString() && data->getAsCString() == "__TRINE_CPU";
}

void replace(llvm::Instruction& instruction, llvm::Constant& value) {
  std::vector<llvm::Instruction*> users;
  for (llvm::User* user : instruction.users()) users.push_back(llvm::cast<llvm::Instruction>(user));
  instruction.replaceAllUsesWith(&value);
  instruction.eraseFromParent();
  for (llvm::Instruction* user : users)
    if (llvm::Constant* folded = llvm::ConstantFoldInstruction(user, user->getModule()->getDataLayout()))
      replace(*user, *folded);
}

}  // namespace

void fold_reflect(llvm::Module& module) {
  llvm::Function* reflect = llvm::Intrinsic::getDeclarationIfExists(&module, llvm::Intrinsic::nvvm_reflect);
  if (!reflect) return;
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : reflect->users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && asks_for_cpu(*call)) calls.push_back(call);
  std::set<llvm::Function*> changed;
  for (llvm::CallInst* call : calls) {
    changed.insert(call->getFunction());
    replace(*call, *llvm::ConstantInt::get(call->getType(), 1));
  }
  for (llvm::Function* function : changed) {
    for (llvm::BasicBlock& block : *function) llvm::ConstantFoldTerminator(&block, true);
    llvm::removeUnreachableBlocks(*function);
  }
}

}  // namespace trine::simt
