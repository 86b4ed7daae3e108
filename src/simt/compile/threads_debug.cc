// What debuggers see of a thread by variables: threadIdx, blockIdx, blockDim and gridDim, in the source objects without
// memory, and shared variables, here offsets from the block's arena. Every function gets local variables of these
// names, which describe where to look, beginning at the ThreadState that it was entered with.
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <set>

#include "simt/compile/threads.h"
#include "simt/compile/threads_lower.h"
#include "simt/run/abi.h"

namespace trine::simt {
namespace {

namespace dwarf = llvm::dwarf;
using Steps = llvm::SmallVector<uint64_t>;

// A word triple at `offset` of the thread's state, or of its block's.
struct Identity {
  const char* name;
  const char* type;
  bool of_block;
  uint64_t offset;
};
constexpr Identity kIdentities[] = {
    {"threadIdx", "uint3", false, offsetof(ThreadState, thread_index)},
    {"blockIdx", "uint3", true, offsetof(BlockState, block_index)},
    {"blockDim", "dim3", true, offsetof(BlockState, block_dim)},
    {"gridDim", "dim3", true, offsetof(BlockState, grid_dim)},
};
static_assert(offsetof(ThreadState, block) == 0);

using Places = std::vector<std::pair<llvm::GlobalVariable*, uint64_t>>;

llvm::DIGlobalVariable* description_of(const llvm::GlobalVariable& variable) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression*> all;
  variable.getDebugInfo(all);
  return all.empty() ? nullptr : all.front()->getVariable();
}

// The variables of one function.
class Locals {
 public:
  explicit Locals(llvm::Function& function)
      : source_(*function.getSubprogram()), info_(*function.getParent(), false, source_.getUnit()) {
    // Without a line: it belongs to what debuggers skip at the start of a function.
    llvm::IRBuilder<> build(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    build.SetCurrentDebugLocation({});
    held_ = build.CreateAlloca(build.getPtrTy(), nullptr, "trine.thread");
    auto thread = function.getParent()->getOrInsertFunction("trine_simt_thread", build.getPtrTy());
    after_ = std::next(build.CreateStore(build.CreateCall(thread), held_)->getIterator());
  }
  ~Locals() { info_.finalize(); }

  void add(const Identity& identity) {
    Steps steps = {dwarf::DW_OP_deref};
    if (identity.of_block) steps.push_back(dwarf::DW_OP_deref);
    steps.append({dwarf::DW_OP_plus_uconst, identity.offset});
    declare(&source_, identity.name, three_words(identity.type), steps);
  }

  // Those of other functions are none of ours.
  void add_shared(const llvm::GlobalVariable& variable, uint64_t offset) {
    const llvm::DIGlobalVariable* known = description_of(variable);
    auto* scope = known ? llvm::dyn_cast<llvm::DILocalScope>(known->getScope()) : nullptr;
    if (scope && scope->getSubprogram() != &source_) return;
    llvm::DIType* type = known ? known->getType() : array_of(variable.getValueType());
    if (!type) return;
    declare(scope ? scope : &source_, known ? known->getName() : variable.getName(), type,
            {dwarf::DW_OP_deref, dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, offsetof(BlockState, shared),
             dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, offset});
  }

 private:
  void declare(llvm::DILocalScope* scope, llvm::StringRef name, llvm::DIType* type, const Steps& steps) {
    auto* variable = info_.createAutoVariable(scope, name, source_.getFile(), source_.getScopeLine(), type,
                                              /*AlwaysPreserve=*/true, llvm::DINode::FlagArtificial);
    const auto* line = llvm::DILocation::get(scope->getContext(), source_.getScopeLine(), 0, scope);
    info_.insertDeclare(held_, variable, info_.createExpression(steps), line, after_);
  }

  llvm::DIType* three_words(const char* name) {
    llvm::DIFile* file = source_.getFile();
    llvm::DIType* word = info_.createBasicType("unsigned int", 32, dwarf::DW_ATE_unsigned);
    llvm::SmallVector<llvm::Metadata*> members;
    for (const char* member : {"x", "y", "z"})
      members.push_back(
          info_.createMemberType(file, member, file, 0, 32, 32, 32 * members.size(), llvm::DINode::FlagZero, word));
    return info_.createStructType(file, name, file, 0, 96, 32, llvm::DINode::FlagZero, nullptr,
                                  info_.getOrCreateArray(members));
  }

  // Of `extern __shared__ float x[]`, which clang does not describe: by what LLVM knows. Null for structs.
  llvm::DIType* array_of(llvm::Type* type) {
    auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
    if (!array) return nullptr;
    llvm::Type* element = array->getElementType();
    const unsigned bits = element->getScalarSizeInBits();
    llvm::DIType* known = element->isFloatTy()       ? info_.createBasicType("float", 32, dwarf::DW_ATE_float)
                          : element->isDoubleTy()    ? info_.createBasicType("double", 64, dwarf::DW_ATE_float)
                          : element->isIntegerTy(8)  ? info_.createBasicType("char", 8, dwarf::DW_ATE_signed_char)
                          : element->isIntegerTy(16) ? info_.createBasicType("short", 16, dwarf::DW_ATE_signed)
                          : element->isIntegerTy(32) ? info_.createBasicType("int", 32, dwarf::DW_ATE_signed)
                          : element->isIntegerTy(64) ? info_.createBasicType("long", 64, dwarf::DW_ATE_signed)
                                                     : nullptr;
    if (!known) return nullptr;
    const auto unbounded = info_.getOrCreateArray({info_.getOrCreateSubrange(0, -1)});
    return info_.createArrayType(0, bits, known, unbounded);
  }

  llvm::DISubprogram& source_;
  llvm::DIBuilder info_;
  llvm::AllocaInst* held_;
  llvm::BasicBlock::iterator after_;
};

// Else debuggers find them first, where they are no more.
void forget_shared(llvm::Module& module, const Places& places) {
  std::set<const llvm::DIGlobalVariable*> gone;
  for (const auto& [variable, offset] : places) {
    if (const auto* known = description_of(*variable)) gone.insert(known);
    variable->eraseMetadata(llvm::LLVMContext::MD_dbg);
  }
  for (llvm::DICompileUnit* unit : module.debug_compile_units()) {
    llvm::SmallVector<llvm::Metadata*> kept;
    for (llvm::DIGlobalVariableExpression* global : unit->getGlobalVariables())
      if (!gone.contains(global->getVariable())) kept.push_back(global);
    unit->replaceGlobalVariables(llvm::MDTuple::get(module.getContext(), kept));
  }
}

}  // namespace

void add_debug_locals(llvm::Module& module) {
  const Places shared = shared_places(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !function.getSubprogram()) continue;
    Locals locals(function);
    for (const Identity& identity : kIdentities) locals.add(identity);
    for (const auto& [variable, offset] : shared) locals.add_shared(*variable, offset);
  }
  forget_shared(module, shared);
}

}  // namespace trine::simt
