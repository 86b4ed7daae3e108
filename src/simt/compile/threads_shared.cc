// Shared memory: a block has an arena, in which every variable of address space 3 has its place; arrays without a size
// begin where the static ones end.
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <map>
#include <vector>

#include "simt/compile/shared_addresses.h"
#include "simt/compile/threads_lower.h"

namespace trine::simt {
namespace {

constexpr unsigned kSharedSpace = 3;
constexpr uint64_t kDynamicAlign = 16;

uint64_t rounded(uint64_t bytes, uint64_t align) { return (bytes + align - 1) / align * align; }

uint64_t align_of(const llvm::GlobalVariable& variable) {
  const llvm::DataLayout& layout = variable.getDataLayout();
  return std::max(layout.getABITypeAlign(variable.getValueType()), variable.getAlign().valueOrOne()).value();
}

struct Layout {
  std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> places;
  uint64_t bytes = 0;
};

Layout layout_of(llvm::Module& module) {
  Layout layout;
  uint64_t dynamic_align = kDynamicAlign;
  std::vector<llvm::GlobalVariable*> dynamic;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace) continue;
    if (variable.getName() == kSharedArena) {
      layout.places.emplace_back(&variable, 0);
      continue;
    }
    const uint64_t bytes = variable.getDataLayout().getTypeAllocSize(variable.getValueType());
    if (variable.isDeclaration() || bytes == 0) {
      dynamic_align = std::max(dynamic_align, align_of(variable));
      dynamic.push_back(&variable);
      continue;
    }
    const uint64_t at = rounded(layout.bytes, align_of(variable));
    layout.places.emplace_back(&variable, at);
    layout.bytes = at + bytes;
  }
  if (!dynamic.empty() || layout.bytes) layout.bytes = rounded(layout.bytes, dynamic_align);
  for (llvm::GlobalVariable* variable : dynamic) layout.places.emplace_back(variable, layout.bytes);
  return layout;
}

// The arena's address, once for each function that needs it.
class Arenas {
 public:
  llvm::Value* of(llvm::Function& function) {
    llvm::Value*& known = arenas_[&function];
    if (!known) {
      llvm::Instruction* first = &*function.getEntryBlock().getFirstInsertionPt();
      auto* anchor = llvm::cast<llvm::CallInst>(llvm::CallInst::Create(
          llvm::Intrinsic::getOrInsertDeclaration(function.getParent(), llvm::Intrinsic::donothing), "",
          first->getIterator()));
      Lowering lower(*anchor);
      known = lower.shared();
      lower.replace(nullptr);
    }
    return known;
  }

 private:
  std::map<llvm::Function*, llvm::Value*> arenas_;
};

void place(llvm::GlobalVariable& variable, uint64_t at, Arenas& arenas) {
  llvm::convertUsersOfConstantsToInstructions({&variable});
  for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
    auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (!user) continue;
    llvm::Function& function = *user->getFunction();
    auto* arena = llvm::cast<llvm::Instruction>(arenas.of(function));
    llvm::IRBuilder<> build(arena->getNextNode());
    llvm::Value* address = build.CreateConstInBoundsGEP1_64(build.getInt8Ty(), arena, at);
    use.set(build.CreateAddrSpaceCast(address, variable.getType()));
  }
  variable.removeDeadConstantUsers();
  if (variable.use_empty()) variable.eraseFromParent();
}

}  // namespace

uint32_t static_shared_bytes(const llvm::Module& module) {
  return static_cast<uint32_t>(layout_of(const_cast<llvm::Module&>(module)).bytes);
}

std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> shared_places(llvm::Module& module) {
  return layout_of(module).places;
}

uint32_t lay_out_shared(llvm::Module& module) {
  const Layout layout = layout_of(module);
  Arenas arenas;
  for (const auto& [variable, at] : layout.places) place(*variable, at, arenas);
  return static_cast<uint32_t>(layout.bytes);
}

}  // namespace trine::simt
