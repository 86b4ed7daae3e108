#include "simt/compile/threads_lower.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstddef>
#include <vector>

#include "simt/compile/headers.h"
#include "simt/run/abi.h"

namespace trine::simt {
namespace {

using llvm::Attribute;

// A function of the runtime, or of the C library, by a name that device code uses; it takes the first arguments.
struct NamedCall {
  const char* name;
  const char* runtime;
  unsigned arguments;
  bool noted;  // its place is
};
constexpr NamedCall kNamedCalls[] = {
    {"vprintf", "trine_simt_vprintf", 2, false},
    {"__assertfail", "trine_simt_assert_fail", 4, true},
    {"malloc", "trine_simt_malloc", 1, true},
    {"free", "trine_simt_free", 1, true},
    {"trine_simt_grid_sync", "trine_simt_grid_sync", 0, true},
};

// The runtime's own memory is none of the kernel's accesses.
template <class Instruction>
Instruction* unchecked(Instruction* at) {
  at->setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(at->getContext(), {}));
  return at;
}

void describe_runtime(llvm::Function& function) {
  function.setDoesNotThrow();
  if (function.getName() == "trine_simt_thread") {
    // The same for all the life of a thread.
    function.setDoesNotAccessMemory();
    function.setWillReturn();
    function.setSpeculatable();
  }
  if (function.getName() == "trine_simt_trap" || function.getName() == "trine_simt_assert_fail" ||
      function.getName() == "trine_simt_exit") {
    function.setDoesNotReturn();
    function.addFnAttr(Attribute::Cold);
  }
  if (function.getName() == "trine_simt_active_mask") function.setConvergent();  // who is there depends on the place
}

void retarget(llvm::Function& function, const llvm::TargetMachine& machine) {
  function.setCallingConv(llvm::CallingConv::C);
  for (const char* name : {"nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm", "nvvm.maxnreg", "nvvm.kernel"})
    function.removeFnAttr(name);
  function.removeFnAttr(Attribute::UWTable);
  function.removeFnAttr("target-cpu");
  function.removeFnAttr("target-features");
  if (function.isDeclaration()) return;
  function.addFnAttr("target-cpu", machine.getTargetCPU());
  function.addFnAttr("target-features", machine.getTargetFeatureString());
  function.addFnAttr("probe-stack", "inline-asm");  // large frames meet the guard page
  function.setDoesNotThrow();
}

bool lower_intrinsic(llvm::IntrinsicInst& call) {
  Lowering lower(call);
  return lower_identity(lower, call) || lower_collective(lower, call) || lower_arithmetic(lower, call);
}

void lower_named(llvm::Module& module) {
  for (const NamedCall& row : kNamedCalls) {
    llvm::Function* function = module.getFunction(row.name);
    if (!function || !function->isDeclaration()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != function) continue;
      Lowering lower(*call);
      if (row.noted) lower.note_place();
      const llvm::SmallVector<llvm::Value*> arguments(call->arg_begin(), call->arg_begin() + row.arguments);
      if (row.name == llvm::StringRef(row.runtime)) continue;
      lower.replace(lower.runtime(row.runtime, call->getType(), arguments));
    }
  }
}

}  // namespace

llvm::CallInst* Lowering::runtime(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module& module = *call_.getModule();
  auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  describe_runtime(*llvm::cast<llvm::Function>(callee.getCallee()));
  return build.CreateCall(callee, arguments);
}

llvm::LoadInst* Lowering::invariant(llvm::Type* type, llvm::Value* base, uint64_t offset) {
  llvm::LoadInst* load = build.CreateLoad(type, build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), base, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(build.getContext(), {}));
  return unchecked(load);
}

llvm::Value* Lowering::thread() { return runtime("trine_simt_thread", build.getPtrTy(), {}); }
llvm::Value* Lowering::thread_word(uint64_t offset) { return invariant(build.getInt32Ty(), thread(), offset); }
llvm::Value* Lowering::block() { return invariant(build.getPtrTy(), thread(), offsetof(ThreadState, block)); }
llvm::Value* Lowering::block_word(uint64_t offset) { return invariant(build.getInt32Ty(), block(), offset); }
llvm::Value* Lowering::block_pointer(uint64_t offset) { return invariant(build.getPtrTy(), block(), offset); }
llvm::Value* Lowering::shared() { return block_pointer(offsetof(BlockState, shared)); }
llvm::Value* Lowering::lane() { return build.CreateAnd(thread_word(offsetof(ThreadState, linear)), 31); }

void Lowering::note_place() {
  const std::string text = place_text(call_.getDebugLoc());
  if (text.empty()) return;
  llvm::Value* place = build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), thread(), offsetof(ThreadState, where));
  unchecked(build.CreateStore(build.CreateGlobalString(text, "place"), place));
}

bool Lowering::replace(llvm::Value* by) {
  if (!call_.getType()->isVoidTy()) call_.replaceAllUsesWith(by);
  call_.eraseFromParent();
  return true;
}

std::string place_text(const llvm::DebugLoc& where) {
  if (!where) return "";
  const llvm::DILocation* line = where.get();
  while (line->getInlinedAt() && line->getFilename().starts_with(kDeviceHeaders)) line = line->getInlinedAt();
  return line->getFilename().str() + ":" + std::to_string(line->getLine());
}

llvm::SyncScope::ID block_scope(llvm::LLVMContext& context) { return context.getOrInsertSyncScopeID("block"); }

void lower_module(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) retarget(function, machine);
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setCallingConv(llvm::CallingConv::C);
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) lower_intrinsic(*call);
      }
  lower_named(module);
}

}  // namespace trine::simt
