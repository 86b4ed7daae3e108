#include "simt/compile/check/init.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <string_view>

#include "simt/check/abi.h"
#include "simt/check/shadow.h"
#include "simt/compile/check/calls.h"

namespace trine::simt {
namespace {

using llvm::Value;
constexpr uint64_t kWord = 4;
constexpr uint64_t kCleanBytes = 64;  // copies of so many are looked at in one go

// Functions outside of the module that write through a pointer, and how much.
struct Writes {
  std::string_view name;
  uint64_t bytes;
};
constexpr Writes kWriters[] = {{"trine_simt_shuffle", 4},
                               {"trine_simt_match", 4},
                               {"frexp", 4},
                               {"frexpf", 4},
                               {"modf", 8},
                               {"modff", 4},
                               {"remquo", 4},
                               {"remquof", 4},
                               {"sincos", 8},
                               {"sincosf", 4}};

uint64_t bytes_written_by(const llvm::CallInst& call) {
  const llvm::Function* function = call.getCalledFunction();
  if (!function || !function->isDeclaration()) return 0;
  for (const Writes& writer : kWriters)
    if (function->getName() == llvm::StringRef(writer.name)) return writer.bytes;
  return 0;
}

// Structs are read to be passed on, holes and all.
bool is_copy(const llvm::Instruction& at) { return llvm::isa<llvm::LoadInst>(at) && at.getType()->isAggregateType(); }

// A bit field is set by reading what lies around it.
bool sets_bits(const llvm::Instruction& at) {
  using namespace llvm::PatternMatch;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at);
  if (!load || !load->hasOneUse()) return false;
  const llvm::User* kept = load->user_back();
  if (!match(kept, m_And(m_Specific(load), m_ConstantInt())) || !kept->hasOneUse()) return false;
  const llvm::User* set = *kept->user_begin();
  if (!match(set, m_c_Or(m_Specific(kept), m_Value()))) return false;
  for (const llvm::User* user : set->users())
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      if (store->getPointerOperand() == load->getPointerOperand()) return true;
  return false;
}

Value* at_shadow(llvm::IRBuilder<>& build, Value* shadow, Value* address) {
  return build.CreateGEP(build.getInt8Ty(), shadow, address);
}

void fill(llvm::IRBuilder<>& build, Value* shadow, Value* address, uint8_t value, Value* bytes) {
  own(build.CreateMemSet(at_shadow(build, shadow, address), build.getInt8(value), bytes, llvm::Align(1)));
}

// Marks of a few bytes as one number, 0 where nobody watches.
Value* marks_of(llvm::IRBuilder<>& build, Value* address, Value* shadow, uint64_t bytes) {
  llvm::Module& module = *build.GetInsertBlock()->getModule();
  auto* type = llvm::ArrayType::get(build.getInt8Ty(), kCleanBytes);
  llvm::Constant* clean = module.getOrInsertGlobal("trine.check.clean", type, [&] {
    return new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantAggregateZero::get(type), "trine.check.clean");
  });
  Value* there = build.CreateSelect(build.CreateIsNull(shadow), clean, at_shadow(build, shadow, address));
  return own(build.CreateAlignedLoad(build.getIntNTy(static_cast<unsigned>(bytes * 8)), there, llvm::Align(1)));
}

// `value` of the block that was split off in front of `next`, 0 where that did not run.
Value* joined(Value* value, llvm::Instruction& next) {
  llvm::BasicBlock* here = next.getParent();
  auto* then = llvm::cast<llvm::Instruction>(value)->getParent();
  llvm::IRBuilder<> build(here, here->begin());
  llvm::PHINode* phi = build.CreatePHI(value->getType(), 2);
  for (llvm::BasicBlock* from : llvm::predecessors(here))
    phi->addIncoming(from == then ? value : llvm::Constant::getNullValue(value->getType()), from);
  return phi;
}

// Where code goes that runs once `local` is there.
std::vector<llvm::Instruction*> beginnings_of(llvm::AllocaInst& local) {
  std::vector<llvm::Instruction*> after;
  for (llvm::User* user : local.users())
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
        call && call->getIntrinsicID() == llvm::Intrinsic::lifetime_start)
      after.push_back(llvm::cast<llvm::Instruction>(user)->getNextNode());
  if (after.empty()) after.push_back(local.getNextNode());
  return after;
}

}  // namespace

bool InitChecks::may_be_unwritten(const Object& object) {
  if (object.kind == ObjectKind::local) return llvm::isa<llvm::AllocaInst>(object.base);
  return object.kind == ObjectKind::shared || object.kind == ObjectKind::unknown;
}

Value* InitChecks::stack_shadow() {
  if (!stack_shadow_) {
    llvm::IRBuilder<> build(&*function_.getEntryBlock().getFirstInsertionPt());
    stack_shadow_ = call_checker(build, build.getPtrTy(), "trine_check_stack", {});
  }
  return stack_shadow_;
}

void InitChecks::begin() {
  std::vector<llvm::AllocaInst*> locals;
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& at : llvm::instructions(function_)) {
    if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&at)) locals.push_back(local);
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&at); call && bytes_written_by(*call)) calls.push_back(call);
  }
  mark_parameters();
  for (llvm::AllocaInst* local : locals) mark_local(*local);
  for (llvm::CallInst* call : calls) mark_results(*call);
}

// They lie where other variables have been.
void InitChecks::mark_parameters() {
  llvm::IRBuilder<> build(&*function_.getEntryBlock().getFirstInsertionPt());
  for (llvm::Argument& argument : function_.args()) {
    if (!argument.hasByValAttr()) continue;
    const uint64_t bytes = function_.getDataLayout().getTypeAllocSize(argument.getParamByValType());
    call_checker(build, build.getVoidTy(), "trine_check_written",
                 {build.CreatePtrToInt(&argument, build.getInt64Ty()), build.getInt64(bytes)});
  }
}

void InitChecks::mark_local(llvm::AllocaInst& local) {
  Value* shadow = stack_shadow();
  // Single values are handed to shuffles by lanes that have none: only arrays and structs begin unwritten.
  const uint8_t begin = local.getAllocatedType()->isAggregateType() || local.isArrayAllocation() ? kUnwritten : 0;
  for (llvm::Instruction* at : beginnings_of(local)) {
    llvm::IRBuilder<> build(at);
    Value* one = build.getInt64(function_.getDataLayout().getTypeAllocSize(local.getAllocatedType()));
    Value* bytes = build.CreateMul(one, build.CreateZExtOrTrunc(local.getArraySize(), build.getInt64Ty()));
    fill(build, shadow, build.CreatePtrToInt(&local, build.getInt64Ty()), begin, bytes);
  }
}

void InitChecks::mark_results(llvm::CallInst& call) {
  llvm::IRBuilder<> build(call.getNextNode());
  build.SetCurrentDebugLocation(call.getDebugLoc());
  for (Value* argument : call.args())
    if (argument->getType()->isPointerTy() && !llvm::isa<llvm::ConstantPointerNull>(argument))
      call_checker(build, build.getVoidTy(), "trine_check_written",
                   {build.CreatePtrToInt(argument, build.getInt64Ty()), build.getInt64(bytes_written_by(call))});
}

void InitChecks::add(const Access& access, const Object& object, Value* shadow, uint32_t site) {
  const bool is_local = object.kind == ObjectKind::local && may_be_unwritten(object);
  if (is_local) shadow = stack_shadow();
  if (llvm::isa<llvm::MemTransferInst>(access.at)) return add_copy(access, shadow, is_local);
  if ((access.flags & kSiteReads) && !is_copy(*access.at) && !sets_bits(*access.at))
    add_read(access, shadow, is_local, site);
  if (access.flags & kSiteWrites) add_write(access, shadow, is_local);
}

// Before the access, where its memory has a shadow.
llvm::Instruction* InitChecks::where_watched(const Access& access, Value* shadow, bool surely) {
  if (surely) return access.at;
  llvm::IRBuilder<> build(access.at);
  return llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(shadow), access.at, /*Unreachable=*/false);
}

void InitChecks::add_read(const Access& access, Value* shadow, bool surely, uint32_t site) {
  llvm::Instruction* before = where_watched(access, shadow, surely);
  llvm::IRBuilder<> build(before);
  Value* address = address_of(access, build);
  llvm::Type* wide = build.getIntNTy(static_cast<unsigned>(access.bytes * 8));
  Value* marks = own(build.CreateAlignedLoad(wide, at_shadow(build, shadow, address), llvm::Align(1)));
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(marks), before,
                                                            /*Unreachable=*/false, unlikely(function_.getContext()));
  llvm::IRBuilder<> cold(then);
  cold.SetCurrentDebugLocation(access.at->getDebugLoc());
  call_checker(cold, cold.getVoidTy(), "trine_check_unwritten",
               {address, cold.getInt64(access.bytes), cold.getInt32(site)});
}

// Of less than a word, the rest may have been written by others: the checker looks before that is gone.
void InitChecks::add_write(const Access& access, Value* shadow, bool surely) {
  llvm::Instruction* before = where_watched(access, shadow, surely);
  llvm::IRBuilder<> build(before);
  Value* address = address_of(access, build);
  const bool is_fill = llvm::isa<llvm::MemIntrinsic>(access.at);
  if (is_fill || surely || (access.align >= kWord && access.bytes % kWord == 0))
    return fill(build, shadow, address, 0, length_of(access, build));
  llvm::Type* wide = build.getIntNTy(static_cast<unsigned>(access.bytes * 8));
  Value* marks = own(build.CreateAlignedLoad(wide, at_shadow(build, shadow, address), llvm::Align(1)));
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(marks), before,
                                                            /*Unreachable=*/false, unlikely(function_.getContext()));
  llvm::IRBuilder<> cold(then);
  call_checker(cold, cold.getVoidTy(), "trine_check_written", {address, cold.getInt64(access.bytes)});
}

void InitChecks::add_copy(const Access& access, Value* shadow, bool surely) {
  llvm::IRBuilder<> build(access.at);
  Value* address = address_of(access, build);
  if (!shadow) shadow = llvm::ConstantPointerNull::get(build.getPtrTy());
  const bool is_watched = !llvm::isa<llvm::ConstantPointerNull>(shadow);
  if (access.flags & kSiteReads) {
    copied_from_ = address;
    source_shadow_ = shadow;
    return;
  }
  if (!is_watched) return;
  Value* bytes = length_of(access, build);
  llvm::Instruction* before = access.at;
  if (!access.length && access.bytes <= kCleanBytes) {
    Value* marks = marks_of(build, copied_from_, source_shadow_, access.bytes);
    if (surely) fill(build, shadow, address, 0, bytes);
    else marks = build.CreateOr(marks, marks_of(build, address, shadow, access.bytes));
    before = llvm::SplitBlockAndInsertIfThen(build.CreateIsNotNull(marks), before, /*Unreachable=*/false,
                                             unlikely(function_.getContext()));
  }
  llvm::IRBuilder<> at_copy(before);
  Value* unwritten = call_checker(at_copy, at_copy.getInt32Ty(), "trine_check_copy",
                                  {address, shadow, copied_from_, source_shadow_, bytes});
  if (before != access.at) unwritten = joined(unwritten, *access.at);
  llvm::Instruction* next = access.at->getNextNode();
  llvm::IRBuilder<> after(next);
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(after.CreateIsNotNull(unwritten), next,
                                                            /*Unreachable=*/false, unlikely(function_.getContext()));
  llvm::IRBuilder<> cold(then);
  call_checker(cold, cold.getVoidTy(), "trine_check_copied", {address, bytes});
}

}  // namespace trine::simt
