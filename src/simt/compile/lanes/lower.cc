#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/prepare.h"
#include "simt/compile/threads_lower.h"

namespace trine::simt::lanes {
namespace {

llvm::Value* constant_of(llvm::IntrinsicInst& call, const compute::Dim3& block) {
  using namespace llvm;
  const auto number = [&](uint64_t value) { return ConstantInt::get(call.getType(), value); };
  switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_ntid_x: return number(block.x);
    case Intrinsic::nvvm_read_ptx_sreg_ntid_y: return number(block.y);
    case Intrinsic::nvvm_read_ptx_sreg_ntid_z: return number(block.z);
    case Intrinsic::nvvm_read_ptx_sreg_warpsize: return number(32);
    case Intrinsic::nvvm_read_ptx_sreg_nwarpid: return number((block.volume() + 31) / 32);
    case Intrinsic::nvvm_read_ptx_sreg_tid_x: return block.x == 1 ? number(0) : nullptr;
    case Intrinsic::nvvm_read_ptx_sreg_tid_y: return block.y == 1 ? number(0) : nullptr;
    case Intrinsic::nvvm_read_ptx_sreg_tid_z: return block.z == 1 ? number(0) : nullptr;
    default: return nullptr;
  }
}

// %lanemask_lt and its like, of the lane's number.
llvm::Value* lane_mask(llvm::IntrinsicInst& call) {
  using namespace llvm;
  const Intrinsic::ID id = call.getIntrinsicID();
  constexpr Intrinsic::ID kMasks[] = {
      Intrinsic::nvvm_read_ptx_sreg_lanemask_eq, Intrinsic::nvvm_read_ptx_sreg_lanemask_lt,
      Intrinsic::nvvm_read_ptx_sreg_lanemask_le, Intrinsic::nvvm_read_ptx_sreg_lanemask_ge,
      Intrinsic::nvvm_read_ptx_sreg_lanemask_gt};
  if (!is_contained(kMasks, id)) return nullptr;
  IRBuilder<> build(&call);
  Value* lane = build.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value* own = build.CreateShl(build.getInt32(1), build.CreateAnd(lane, 31));
  if (id == Intrinsic::nvvm_read_ptx_sreg_lanemask_eq) return own;
  Value* less = build.CreateSub(own, build.getInt32(1));
  if (id == Intrinsic::nvvm_read_ptx_sreg_lanemask_lt) return less;
  if (id == Intrinsic::nvvm_read_ptx_sreg_lanemask_ge) return build.CreateNot(less);
  Value* most = build.CreateOr(less, own);
  return id == Intrinsic::nvvm_read_ptx_sreg_lanemask_le ? most : build.CreateNot(most);
}

llvm::CallInst* call_runtime(llvm::IRBuilder<>& build, llvm::Type* result, llvm::StringRef name,
                             llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module* module = build.GetInsertBlock()->getModule();
  return build.CreateCall(module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)), arguments);
}

llvm::Value* call_for(llvm::IntrinsicInst& call) {
  using namespace llvm;
  IRBuilder<> build(&call);
  switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_clock:
    case Intrinsic::nvvm_read_ptx_sreg_clock64:
      return build.CreateTrunc(call_runtime(build, build.getInt64Ty(), "trine_simt_clock", {}), call.getType());
    case Intrinsic::nvvm_read_ptx_sreg_globaltimer:
      return call_runtime(build, build.getInt64Ty(), "trine_simt_nanoseconds", {});
    case Intrinsic::trap: return call_runtime(build, build.getVoidTy(), "trine_simt_trap", {});
    default: return nullptr;
  }
}

void lower(llvm::IntrinsicInst& call, const compute::Dim3& block) {
  llvm::Value* instead = constant_of(call, block);
  if (!instead) instead = lane_mask(call);
  if (!instead) instead = call_for(call);
  if (!instead) {
    Lowering arithmetic(call);
    lower_arithmetic(arithmetic, call);
    return;
  }
  call.replaceAllUsesWith(instead);
  call.eraseFromParent();
}

void expand(llvm::MemIntrinsic& call) {
  const llvm::TargetTransformInfo costs(call.getDataLayout());
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call)) {
    llvm::expandMemCpyAsLoop(copy, costs);
  } else if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(&call)) {
    if (!llvm::expandMemMoveAsLoop(move, costs)) refuse("memmove between address spaces");
  } else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&call)) {
    llvm::expandMemSetAsLoop(set);
  }
  call.eraseFromParent();
}

// The functions that clang calls of the runtime, by the runtime's names.
void rename_runtime(llvm::Module& module) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"vprintf", "trine_simt_vprintf"},
                                                            {"__assertfail", "trine_simt_assert_fail"},
                                                            {"malloc", "trine_simt_malloc"},
                                                            {"free", "trine_simt_free"}};
  for (const auto& [from, to] : kNames)
    if (llvm::Function* function = module.getFunction(from); function && function->isDeclaration()) {
      llvm::Function* other = module.getFunction(to);
      if (other) {
        function->replaceAllUsesWith(other);
        function->eraseFromParent();
      } else {
        function->setName(to);
      }
    }
}

}  // namespace

void lower_intrinsics(llvm::Function& kernel, const compute::Dim3& block) {
  rename_runtime(*kernel.getParent());
  llvm::SmallVector<llvm::IntrinsicInst*> calls;
  for (llvm::BasicBlock& basic : kernel)
    for (llvm::Instruction& instruction : basic)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
  for (llvm::IntrinsicInst* call : calls) lower(*call, block);
}

void expand_memory(llvm::Function& kernel) {
  llvm::SmallVector<llvm::MemIntrinsic*> calls;
  for (llvm::BasicBlock& basic : kernel)
    for (llvm::Instruction& instruction : basic)
      if (auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) calls.push_back(call);
  for (llvm::MemIntrinsic* call : calls) expand(*call);
}

void copy_parameters(llvm::Function& kernel) {
  llvm::IRBuilder<> build(&*kernel.getEntryBlock().getFirstInsertionPt());
  for (llvm::Argument& argument : kernel.args()) {
    if (!argument.hasByValAttr()) continue;
    llvm::Type* type = argument.getParamByValType();
    const llvm::Align align = argument.getParamAlign().valueOrOne();
    llvm::AllocaInst* copy = build.CreateAlloca(type);
    copy->setAlignment(align);
    argument.replaceAllUsesWith(copy);
    build.CreateMemCpy(copy, align, &argument, align, kernel.getDataLayout().getTypeAllocSize(type));
    argument.removeAttr(llvm::Attribute::ByVal);
    argument.addAttr(llvm::Attribute::NoAlias);
    argument.addAttr(llvm::Attribute::ReadOnly);
    argument.addAttr(llvm::Attribute::get(kernel.getContext(), "trine-by-value"));
  }
}

}  // namespace trine::simt::lanes
