// Loads and stores: scalar where the address is uniform, vectors where it is contiguous, else gathers and scatters.
// Lanes of a group run in step, so `volatile` asks for nothing here: loops that wait for others are refused before.
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

void keep_alias_class(llvm::Instruction& made, const llvm::Instruction& from) {
  made.setMetadata(llvm::LLVMContext::MD_tbaa, from.getMetadata(llvm::LLVMContext::MD_tbaa));
}

bool fills_its_bytes(llvm::Type* type, const llvm::DataLayout& layout) {
  return layout.getTypeSizeInBits(type) == layout.getTypeAllocSizeInBits(type);
}

}  // namespace

bool Widener::contiguous(const llvm::Value* pointer, llvm::Type* type) const {
  const llvm::DataLayout& layout = kernel_.getDataLayout();
  const Shape shape = shapes_.of(pointer);
  return shape.is_affine() && fills_its_bytes(type, layout) && shape.stride == int64_t(layout.getTypeAllocSize(type));
}

void Widener::load(llvm::LoadInst& load) {
  llvm::Value* pointer = load.getPointerOperand();
  if (shapes_.of(pointer).is_uniform()) {
    llvm::LoadInst* made =
        build_.CreateAlignedLoad(flat(load.getType()), base(pointer), load.getAlign(), load.getName());
    keep_alias_class(*made, load);
    return define(load, made);
  }
  if (load.getType()->isAggregateType() || !fills_its_bytes(load.getType(), kernel_.getDataLayout()))
    refuse("a load of a type that vectors cannot hold");
  llvm::Type* type = wide(load.getType());
  llvm::CallInst* made =
      contiguous(pointer, load.getType())
          ? build_.CreateMaskedLoad(type, base(pointer), load.getAlign(), mask_, nullptr, load.getName())
          : build_.CreateMaskedGather(type, vector(pointer), load.getAlign(), mask_, nullptr, load.getName());
  keep_alias_class(*made, load);
  define(load, made);
}

void Widener::store(llvm::StoreInst& store) {
  llvm::Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  llvm::Instruction* made = nullptr;
  if (shapes_.of(pointer).is_uniform()) {  // the last lane's is what stays
    llvm::Value* last =
        shapes_.of(value).is_uniform() ? base(value) : build_.CreateExtractElement(vector(value), last_lane(mask_));
    made = build_.CreateAlignedStore(last, base(pointer), store.getAlign());
  } else {
    if (value->getType()->isAggregateType() || !fills_its_bytes(value->getType(), kernel_.getDataLayout()))
      refuse("a store of a type that vectors cannot hold");
    llvm::Value* all = vector(value);
    made = contiguous(pointer, value->getType())
               ? build_.CreateMaskedStore(all, base(pointer), store.getAlign(), mask_)
               : build_.CreateMaskedScatter(all, vector(pointer), store.getAlign(), mask_);
  }
  keep_alias_class(*made, store);
}

}  // namespace trine::simt::lanes
