#include "simt/compile/ptx_prepare.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace trine::simt {
namespace {

bool is_kernel(const llvm::Function& function) { return function.getCallingConv() == llvm::CallingConv::PTX_Kernel; }

void hide_all_but_kernels(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || is_kernel(function)) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setComdat(nullptr);
  }
}

void forget_target(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
}

// Debug information is for debug builds, whose functions are not optimised; checks, which also ask for it, are the
// CPU's.
void keep_debug_info_of_debug_builds(llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (is_kernel(function) && function.hasOptNone()) return;
  llvm::StripDebugInfo(module);
}

// "add.u32" for an operation on 32 or 64 bits; empty when PTX has none.
std::string instruction_of(const llvm::AtomicRMWInst& atomic) {
  using Rmw = llvm::AtomicRMWInst;
  const std::string bits = std::to_string(atomic.getType()->getScalarSizeInBits());
  if (bits != "32" && bits != "64") return "";
  switch (atomic.getOperation()) {
    case Rmw::Add:
    case Rmw::Sub:  // of the negative
      return "add.u" + bits;
    case Rmw::FAdd: return "add.f" + bits;
    case Rmw::Xchg: return atomic.getType()->isIntegerTy() ? "exch.b" + bits : "";
    case Rmw::Min: return "min.s" + bits;
    case Rmw::UMin: return "min.u" + bits;
    case Rmw::Max: return "max.s" + bits;
    case Rmw::UMax: return "max.u" + bits;
    case Rmw::And: return "and.b" + bits;
    case Rmw::Or: return "or.b" + bits;
    case Rmw::Xor: return "xor.b" + bits;
    case Rmw::UIncWrap: return bits == "32" ? "inc.u32" : "";
    case Rmw::UDecWrap: return bits == "32" ? "dec.u32" : "";
    default: return "";
  }
}

const char* constraint_of(const llvm::Type& type) {
  if (type.isFloatTy()) return "f";
  if (type.isDoubleTy()) return "d";
  return type.getScalarSizeInBits() == 32 ? "r" : "l";
}

// Our headers mark what the whole system must see as volatile. LLVM writes atomicrmw for one device whatever its scope,
// and its intrinsics for the system take unsigned for signed, so these are written here; its cmpxchg obeys the scope,
// and is wider than need be without one.
void set_scope(llvm::AtomicRMWInst& atomic) {
  const std::string instruction = atomic.isVolatile() ? instruction_of(atomic) : "";
  if (instruction.empty()) return;
  llvm::IRBuilder<> builder(&atomic);
  llvm::Value* address = builder.CreateAddrSpaceCast(atomic.getPointerOperand(), builder.getPtrTy());
  llvm::Value* value = atomic.getValOperand();
  if (atomic.getOperation() == llvm::AtomicRMWInst::Sub) value = builder.CreateNeg(value);
  llvm::Type* type = value->getType();
  const std::string constraint = constraint_of(*type);
  llvm::InlineAsm* code =
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {builder.getPtrTy(), type}, false),
                           "atom.relaxed.sys." + instruction + " $0, [$1], $2;",
                           "=" + constraint + ",l," + constraint + ",~{memory}", /*hasSideEffects=*/true);
  atomic.replaceAllUsesWith(builder.CreateCall(code, {address, value}));
  atomic.eraseFromParent();
}

void set_scopes(llvm::Function& function) {
  const llvm::SyncScope::ID device = function.getContext().getOrInsertSyncScopeID("device");
  std::vector<llvm::AtomicRMWInst*> atomics;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) atomics.push_back(atomic);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction); exchange && !exchange->isVolatile())
      exchange->setSyncScopeID(device);
  }
  for (llvm::AtomicRMWInst* atomic : atomics) set_scope(*atomic);
}

void approximate(llvm::Function& function) {
  function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!instruction.getType()->isFloatTy()) continue;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const bool root = call && call->getIntrinsicID() == llvm::Intrinsic::sqrt;
    if (root || instruction.getOpcode() == llvm::Instruction::FDiv) instruction.setHasApproxFunc(true);
  }
}

}  // namespace

void prepare_for_ptx(llvm::Module& module, bool fast_math) {
  hide_all_but_kernels(module);
  forget_target(module);
  keep_debug_info_of_debug_builds(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    set_scopes(function);
    if (fast_math) approximate(function);
  }
}

}  // namespace trine::simt
