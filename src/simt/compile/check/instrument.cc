#include "simt/compile/check/instrument.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>

#include "simt/check/check_set.h"
#include "simt/compile/check/accesses.h"
#include "simt/compile/check/promote.h"
#include "simt/compile/check/site_table.h"
#include "simt/compile/threads_lower.h"
#include "simt/run/abi.h"

namespace trine::simt {
namespace {

using llvm::Value;

class Instrumenter {
 public:
  Instrumenter(llvm::Function& function, SiteTable& sites, uint32_t checks)
      : function_(function), sites_(sites), checks_(checks), layout_(function.getDataLayout()) {}

  void run() {
    for (llvm::FenceInst* fence : fences()) tell_fence(*fence);
    for (const Access& access : accesses_of(function_)) instrument(access);
  }

 private:
  bool checks(uint32_t bit) const { return checks_ & bit; }

  std::vector<llvm::FenceInst*> fences() {
    std::vector<llvm::FenceInst*> all;
    for (llvm::Instruction& at : llvm::instructions(function_))
      if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&at)) all.push_back(fence);
    return all;
  }

  llvm::CallInst* call(llvm::IRBuilder<>& build, llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    auto callee =
        function_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(build.getVoidTy(), types, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    return build.CreateCall(callee, arguments);
  }

  void tell_fence(llvm::FenceInst& fence) {
    if (!checks(kCheckRace)) return;
    llvm::IRBuilder<> build(&fence);
    const bool of_block = fence.getSyncScopeID() == block_scope(fence.getContext());
    call(build, "trine_check_fence", {build.getInt32(of_block ? 0 : 1)});
  }

  void instrument(const Access& access) {
    const Object object = object_of(access, layout_);
    const bool statically_bounded = object.kind != ObjectKind::unknown;
    const bool private_to_thread = object.kind == ObjectKind::local || object.kind == ObjectKind::constant;
    if (private_to_thread && (object.known_inside || !checks(kCheckMemory))) return;
    if (!checks(kCheckMemory | kCheckRace)) return;
    const uint32_t site = sites_.add(*access.at, access.length ? 0 : access.bytes,
                                     access.flags | (access.length ? 0u : kSiteConstantSize), access.align);
    if (checks(kCheckMemory) && statically_bounded && !object.known_inside) bound(access, object, site);
    if (private_to_thread) return;
    const bool is_aligned = access.align == 1 || object.known_inside;
    if (statically_bounded && is_aligned && !checks(kCheckRace)) return;
    locate(access, site);
    if (checks(kCheckRace)) tell_access(access, site);
  }

  Value* length_of(const Access& access, llvm::IRBuilder<>& build) {
    return access.length ? build.CreateZExtOrTrunc(access.length, build.getInt64Ty()) : build.getInt64(access.bytes);
  }

  // Within the variable that the address is computed from, whatever lies around it.
  void bound(const Access& access, const Object& object, uint32_t site) {
    llvm::IRBuilder<> build(access.at);
    Value* offset = offset_in(access, object);
    Value* bytes = length_of(access, build);
    Value* total = build.getInt64(object.bytes);
    Value* too_long = build.CreateICmpUGT(bytes, total);
    Value* bad = build.CreateOr(too_long, build.CreateICmpUGT(offset, build.CreateSub(total, bytes)));
    if (access.length) bad = build.CreateAnd(bad, build.CreateICmpNE(bytes, build.getInt64(0)));
    if (const auto* never = llvm::dyn_cast<llvm::ConstantInt>(bad); never && never->isZero()) return;
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(bad, access.at, /*Unreachable=*/true, unlikely());
    llvm::IRBuilder<> cold(then);
    cold.SetCurrentDebugLocation(access.at->getDebugLoc());
    call(cold, "trine_check_local", {offset, total, name_of(object, cold), cold.getInt32(site)})->setDoesNotReturn();
  }

  Value* name_of(const Object& object, llvm::IRBuilder<>& build) {
    std::string name = object.base->getName().str();
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object.base)) name = variable_name(*variable);
    else name = local_name(*object.base);
    return build.CreateGlobalString(name, "trine.check.text");
  }

  void locate(const Access& access, uint32_t site) {
    llvm::IRBuilder<> build(access.at);
    Value* address = address_of(access, build);
    Value* entry = build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), caches(), site * sizeof(CheckCache));
    Value* low = own(build.CreateLoad(build.getInt64Ty(), entry));
    Value* span = own(build.CreateLoad(
        build.getInt64Ty(), build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), entry, offsetof(CheckCache, span))));
    Value* bad = access.length ? build.getTrue() : build.CreateICmpUGE(build.CreateSub(address, low), span);
    if (checks(kCheckMemory) && access.align > 1 && !access.length) {
      Value* low_bits = build.CreateAnd(address, build.getInt64(access.align - 1));
      bad = build.CreateOr(bad, build.CreateICmpNE(low_bits, build.getInt64(0)));
    }
    const auto slow = [&](llvm::IRBuilder<>& at) {
      call(at, "trine_check_locate", {address, length_of(access, at), at.getInt32(site)});
    };
    if (access.length) return slow(build);
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(bad, access.at, /*Unreachable=*/false, unlikely());
    llvm::IRBuilder<> cold(then);
    cold.SetCurrentDebugLocation(access.at->getDebugLoc());
    slow(cold);
  }

  void tell_access(const Access& access, uint32_t site) {
    llvm::IRBuilder<> build(access.at);
    Value* address = address_of(access, build);
    call(build, "trine_check_access",
         {address, length_of(access, build), stored_word(access, build), build.getInt32(site)});
    const bool may_acquire = (access.flags & kSiteReads) && (access.flags & (kSiteAtomic | kSiteVolatile));
    if (!may_acquire) return;
    llvm::IRBuilder<> after(access.at->getNextNode());
    after.SetCurrentDebugLocation(access.at->getDebugLoc());
    call(after, "trine_check_acquire", {address, after.getInt32(site)});
  }

  Value* stored_word(const Access& access, llvm::IRBuilder<>& build) {
    if (!access.stored || access.bytes > 8) return build.getInt64(0);
    llvm::Type* type = access.stored->getType();
    if (type->isPointerTy()) return build.CreatePtrToInt(access.stored, build.getInt64Ty());
    const unsigned bits = static_cast<unsigned>(layout_.getTypeSizeInBits(type).getFixedValue());
    if (!type->isIntegerTy() && !type->isFloatingPointTy() && !type->isVectorTy()) return build.getInt64(0);
    return build.CreateZExt(build.CreateBitCast(access.stored, build.getIntNTy(bits)), build.getInt64Ty());
  }

  Value* address_of(const Access& access, llvm::IRBuilder<>& build) {
    return build.CreatePtrToInt(access.address, build.getInt64Ty());
  }

  // Instructions of the checker are not checked themselves.
  Value* own(llvm::LoadInst* load) {
    load->setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(load->getContext(), {}));
    return load;
  }

  llvm::MDNode* unlikely() { return llvm::MDBuilder(function_.getContext()).createUnlikelyBranchWeights(); }

  // Of the block that runs, loaded once.
  Value* caches() {
    if (caches_) return caches_;
    llvm::Module& module = *function_.getParent();
    auto* anchor = llvm::cast<llvm::CallInst>(
        llvm::CallInst::Create(llvm::Intrinsic::getOrInsertDeclaration(&module, llvm::Intrinsic::donothing), "",
                               function_.getEntryBlock().getFirstInsertionPt()));
    Lowering lower(*anchor);
    caches_ = lower.block_pointer(offsetof(BlockState, check_caches));
    lower.replace(nullptr);
    return caches_;
  }

  llvm::Function& function_;
  SiteTable& sites_;
  const uint32_t checks_;
  const llvm::DataLayout& layout_;
  Value* caches_ = nullptr;
};

}  // namespace

void add_checks(llvm::Module& module, uint32_t checks, const std::string& entry, const std::string& table) {
  SiteTable sites(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getName() == entry) continue;
    promote_scalars(function);
    Instrumenter(function, sites, checks).run();
  }
  sites.write(table, checks);
}

}  // namespace trine::simt
