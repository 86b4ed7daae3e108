// On GPUs shared memory has addresses of its own, 32 bits wide, which programs keep in integers. Here a pointer of
// address space 3 is where a variable lies; as an integer it is the distance from the start of the block's arena.
#include "simt/compile/shared_addresses.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <vector>

namespace trine::simt {
namespace {

constexpr unsigned kSharedSpace = 3;

void free_constants(llvm::Module& module) {
  std::vector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace) variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
}

llvm::Value* arena(llvm::IRBuilder<>& build, llvm::Module& module) {
  llvm::Type* type = llvm::ArrayType::get(build.getInt8Ty(), 0);
  llvm::Constant* start = module.getOrInsertGlobal(kSharedArena, type, [&] {
    return new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, kSharedArena,
                                    nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  });
  return build.CreatePtrToInt(build.CreateAddrSpaceCast(start, build.getPtrTy()), build.getInt64Ty());
}

void from_pointer(llvm::PtrToIntInst& cast, llvm::Module& module) {
  llvm::IRBuilder<> build(&cast);
  llvm::Value* place =
      build.CreatePtrToInt(build.CreateAddrSpaceCast(cast.getOperand(0), build.getPtrTy()), build.getInt64Ty());
  cast.replaceAllUsesWith(build.CreateZExtOrTrunc(build.CreateSub(place, arena(build, module)), cast.getType()));
  cast.eraseFromParent();
}

void to_pointer(llvm::IntToPtrInst& cast, llvm::Module& module) {
  llvm::IRBuilder<> build(&cast);
  llvm::Value* offset = build.CreateZExtOrTrunc(cast.getOperand(0), build.getInt64Ty());
  llvm::Value* place = build.CreateIntToPtr(build.CreateAdd(offset, arena(build, module)), build.getPtrTy());
  cast.replaceAllUsesWith(build.CreateAddrSpaceCast(place, cast.getType()));
  cast.eraseFromParent();
}

}  // namespace

void offset_shared_addresses(llvm::Module& module) {
  free_constants(module);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* from = llvm::dyn_cast<llvm::PtrToIntInst>(&instruction);
          from && from->getPointerAddressSpace() == kSharedSpace)
        from_pointer(*from, module);
      else if (auto* to = llvm::dyn_cast<llvm::IntToPtrInst>(&instruction); to && to->getAddressSpace() == kSharedSpace)
        to_pointer(*to, module);
    }
}

}  // namespace trine::simt
