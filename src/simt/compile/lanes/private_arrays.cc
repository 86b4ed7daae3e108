#include "simt/compile/lanes/private_arrays.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace trine::simt::lanes {
namespace {

struct Accesses {
  int64_t bytes = 0;
  bool same = true;
  llvm::SmallVector<const llvm::Value*> pointers;
};

void look(const llvm::Value& pointer, const llvm::DataLayout& layout, Accesses& found) {
  found.pointers.push_back(&pointer);
  const auto access = [&](llvm::Type* type) {
    const auto bytes = int64_t(layout.getTypeStoreSize(type));
    found.same &= (bytes == 4 || bytes == 8) && !type->isAggregateType() && (found.bytes == 0 || found.bytes == bytes);
    found.bytes = bytes;
  };
  for (const llvm::User* user : pointer.users()) {
    if (!found.same) return;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      access(load->getType());
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      found.same &= store->getValueOperand() != &pointer;
      access(store->getValueOperand()->getType());
    } else if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst>(user)) {
      look(*user, layout, found);
    } else {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
      found.same &= call && call->isLifetimeStartOrEnd();
    }
  }
}

bool whole_elements(const llvm::Value& pointer, int64_t bytes, const llvm::DataLayout& layout) {
  const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
  if (!gep) return true;
  for (auto type = llvm::gep_type_begin(gep); type != llvm::gep_type_end(gep); ++type) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(type.getOperand());
    int64_t step = 0;
    if (llvm::StructType* fields = type.getStructTypeOrNull())
      step = int64_t(layout.getStructLayout(fields)->getElementOffset(unsigned(number->getZExtValue())));
    else step = int64_t(type.getSequentialElementStride(layout)) * (number ? number->getSExtValue() : 1);
    if (step % bytes != 0) return false;
  }
  return true;
}

Accesses accesses(const llvm::AllocaInst& memory) {
  const llvm::DataLayout& layout = memory.getDataLayout();
  Accesses found;
  look(memory, layout, found);
  found.same &= found.bytes != 0 && int64_t(layout.getTypeAllocSize(memory.getAllocatedType())) % found.bytes == 0;
  for (const llvm::Value* pointer : found.pointers) {
    if (!found.same) break;
    found.same &= whole_elements(*pointer, found.bytes, layout);
  }
  return found;
}

}  // namespace

int64_t element_bytes(const llvm::AllocaInst& memory) {
  const Accesses found = accesses(memory);
  return found.same ? found.bytes : 0;
}

llvm::DenseSet<const llvm::Value*> interleaved_pointers(llvm::Function& kernel) {
  llvm::DenseSet<const llvm::Value*> pointers;
  for (llvm::BasicBlock& block : kernel)
    for (llvm::Instruction& instruction : block)
      if (const auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (const Accesses found = accesses(*memory); found.same)
          pointers.insert(found.pointers.begin(), found.pointers.end());
  return pointers;
}

}  // namespace trine::simt::lanes
