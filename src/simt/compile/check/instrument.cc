#include "simt/compile/check/instrument.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>

#include "simt/check/check_set.h"
#include "simt/compile/check/accesses.h"
#include "simt/compile/check/calls.h"
#include "simt/compile/check/init.h"
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
      : function_(function), sites_(sites), checks_(checks), layout_(function.getDataLayout()), init_(function) {}

  void run() {
    for (llvm::FenceInst* fence : fences()) tell_fence(*fence);
    const std::vector<Access> accesses = accesses_of(function_);
    if (checks(kCheckInit)) init_.begin();
    for (const Access& access : accesses) instrument(access);
  }

 private:
  bool checks(uint32_t bit) const { return checks_ & bit; }

  std::vector<llvm::FenceInst*> fences() {
    std::vector<llvm::FenceInst*> all;
    for (llvm::Instruction& at : llvm::instructions(function_))
      if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&at)) all.push_back(fence);
    return all;
  }

  static llvm::CallInst* call(llvm::IRBuilder<>& build, llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
    return call_checker(build, build.getVoidTy(), name, arguments);
  }

  void tell_fence(llvm::FenceInst& fence) {
    if (!checks(kCheckRace)) return;
    llvm::IRBuilder<> build(&fence);
    const bool of_block = fence.getSyncScopeID() == block_scope(fence.getContext());
    call(build, "trine_check_fence", {build.getInt32(of_block ? 0 : 1)});
  }

  void instrument(const Access& access) {
    const Object object = object_of(access, layout_);
    const bool has_base = object.kind != ObjectKind::unknown;
    const bool private_to_thread = object.kind == ObjectKind::local || object.kind == ObjectKind::constant;
    const bool bounded = checks(kCheckMemory) && has_base && !object.known_inside;
    const bool aligned = access.align == 1 || object.known_inside;
    const bool shadowed = checks(kCheckInit) && InitChecks::may_be_unwritten(object);
    const bool located =
        !private_to_thread && (checks(kCheckRace) || shadowed || (checks(kCheckMemory) && !(has_base && aligned)));
    const bool copied = checks(kCheckInit) && llvm::isa<llvm::MemTransferInst>(access.at);
    if (!bounded && !located && !shadowed && !copied) return;
    const std::string variable = object.kind == ObjectKind::local ? local_name(*object.base) : "";
    const uint32_t site = sites_.add(*access.at, access.length ? 0 : access.bytes,
                                     access.flags | (access.length ? 0u : kSiteConstantSize), access.align, variable);
    if (bounded) bound(access, object, site);
    Value* entry = located ? locate(access, site) : nullptr;
    if (shadowed || copied) init_.add(access, object, shadowed && located ? shadow_of(access, entry) : nullptr, site);
    if (located && checks(kCheckRace)) tell_access(access, site);
  }

  // Of the memory that was located just before.
  Value* shadow_of(const Access& access, Value* entry) {
    llvm::IRBuilder<> build(access.at);
    return own(build.CreateLoad(
        build.getPtrTy(), build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), entry, offsetof(CheckCache, shadow))));
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
    llvm::Instruction* then =
        llvm::SplitBlockAndInsertIfThen(bad, access.at, /*Unreachable=*/true, unlikely(function_.getContext()));
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

  // Returns the cache's entry.
  Value* locate(const Access& access, uint32_t site) {
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
    if (access.length) {
      slow(build);
      return entry;
    }
    llvm::Instruction* then =
        llvm::SplitBlockAndInsertIfThen(bad, access.at, /*Unreachable=*/false, unlikely(function_.getContext()));
    llvm::IRBuilder<> cold(then);
    cold.SetCurrentDebugLocation(access.at->getDebugLoc());
    slow(cold);
    return entry;
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
  InitChecks init_;
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
