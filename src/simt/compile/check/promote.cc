#include "simt/compile/check/promote.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

namespace trine::simt {

void promote_scalars(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> scalars;
  for (llvm::Instruction& at : llvm::instructions(function))
    if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&at); local && llvm::isAllocaPromotable(local))
      scalars.push_back(local);
  if (scalars.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(scalars, dominators);
}

std::string local_name(const llvm::Value& variable) {
  auto& value = const_cast<llvm::Value&>(variable);
  for (const llvm::DbgVariableRecord* record : llvm::findDVRDeclares(&value))
    if (const llvm::DILocalVariable* source = record->getVariable()) return source->getName().str();
  return value.getName().str();
}

}  // namespace trine::simt
