// Loads and stores: scalar where the address is uniform, vectors where it is contiguous, else gathers and scatters.
// Lanes of a group run in step, so `volatile` asks for nothing here: loops that wait for other blocks call the runtime
// in each round (waiting.h), and nothing is read before that call that is asked for behind it.
#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
void keep_alias_class(llvm::Instruction& made, const llvm::Instruction& from) {
  made.setMetadata(llvm::LLVMContext::MD_tbaa, from.getMetadata(llvm::LLVMContext::MD_tbaa));
}

bool fills_its_bytes(llvm::Type* type, const llvm::DataLayout& layout) {
  return layout.getTypeSizeInBits(type) == layout.getTypeAllocSizeInBits(type);
}

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
  if (contiguous(pointer, load.getType())) return load_contiguous(load);
  const auto gather = [&] {
    llvm::CallInst* made = build_.CreateMaskedGather(wide(load.getType()), places(pointer), load.getAlign(), mask_,
                                                     nullptr, load.getName());
    keep_alias_class(*made, load);
    return made;
  };
  const std::optional<int> apart = step_of(pointer, load.getType());
  if (!apart) return define(load, gather());
  const Step at = step(pointer, *apart * int64_t(kernel_.getDataLayout().getTypeAllocSize(load.getType())));
  llvm::PHINode* loaded = llvm::PHINode::Create(wide(load.getType()), 2, load.getName());
  with_all_or_some(
      at.asked, [&] { loaded->addIncoming(load_in_step(load, at.first, *apart), build_.GetInsertBlock()); },
      [&] { loaded->addIncoming(gather(), build_.GetInsertBlock()); });
  define(load, build_.Insert(loaded));
}

// The addresses of all lanes, not to be at hand later: they may be needed in one branch only.
llvm::Value* Widener::places(llvm::Value* pointer) {
  const Shape shape = shapes_.of(pointer);
  if (shape.is_varying()) return vector(pointer);
  return build_.CreateGEP(build_.getInt8Ty(), splat(base(pointer)), lanes_times(build_.getInt64Ty(), shape.stride));
}

void Widener::store(llvm::StoreInst& store) {
  if (waiting_.contains(&store)) return;
  llvm::Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  if (shapes_.of(pointer).is_uniform()) {  // the last lane's is what stays
    llvm::Value* last =
        shapes_.of(value).is_uniform() ? base(value) : build_.CreateExtractElement(vector(value), last_lane(mask_));
    return keep_alias_class(*build_.CreateAlignedStore(last, base(pointer), store.getAlign()), store);
  }
  if (value->getType()->isAggregateType() || !fills_its_bytes(value->getType(), kernel_.getDataLayout()))
    refuse("a store of a type that vectors cannot hold");
  llvm::Value* all = vector(value);
  if (contiguous(pointer, value->getType())) return store_contiguous(store, all);
  const std::optional<int> apart = step_of(pointer, value->getType());
  if (apart == 1) return store_in_step({&store}, 1);
  if (const auto fields = last_of_.lookup(&store); !fields.empty()) return store_in_step(fields, *apart);
  if (apart && *apart > 1)
    if (const auto fields = fields_with(store, *apart); !fields.empty()) return wait_for_last(fields);
  keep_alias_class(*build_.CreateMaskedScatter(all, places(pointer), store.getAlign(), mask_), store);
}

void Widener::wait_for_last(llvm::ArrayRef<llvm::StoreInst*> fields) {
  const auto before = [](const llvm::StoreInst* a, const llvm::StoreInst* b) { return a->comesBefore(b); };
  llvm::StoreInst* last = *std::max_element(fields.begin(), fields.end(), before);
  for (llvm::StoreInst* field : fields)
    if (field != last) waiting_.insert(field);
  last_of_[last] = llvm::SmallVector<llvm::StoreInst*>(fields);
}

// Mostly all lanes are there; saxpy on memory takes half the time when it then loads without masks (Zen 5). `whole` and
// `part` emit the two forms; a mask that is constant leaves one of them. `also`: what must hold for the first; or null.
void Widener::with_all_or_some(llvm::Value* also, llvm::function_ref<void()> whole, llvm::function_ref<void()> part) {
  llvm::BasicBlock *all = new_block("all_lanes"), *some = new_block("some_lanes"), *after = new_block("after");
  llvm::Value* everyone = bits(llvm::Constant::getAllOnesValue(mask_->getType()));
  llvm::Value* is_whole = build_.CreateICmpEQ(bits(mask_), everyone);
  build_.CreateCondBr(also ? build_.CreateAnd(is_whole, also) : is_whole, all, some);
  build_.SetInsertPoint(all);
  whole();
  build_.CreateBr(after);
  build_.SetInsertPoint(some);
  part();
  build_.CreateBr(after);
  build_.SetInsertPoint(after);
}

void Widener::load_contiguous(llvm::LoadInst& load) {
  llvm::Type* type = wide(load.getType());
  llvm::Value* from = base(load.getPointerOperand());
  llvm::Instruction *all = nullptr, *some = nullptr;
  with_all_or_some(
      nullptr, [&] { all = build_.CreateAlignedLoad(type, from, load.getAlign(), load.getName()); },
      [&] { some = build_.CreateMaskedLoad(type, from, load.getAlign(), mask_, nullptr, load.getName()); });
  llvm::PHINode* loaded = build_.CreatePHI(type, 2, load.getName());
  for (llvm::Instruction* made : {all, some}) {
    keep_alias_class(*made, load);
    loaded->addIncoming(made, made->getParent());
  }
  define(load, loaded);
}

void Widener::store_contiguous(llvm::StoreInst& store, llvm::Value* all) {
  llvm::Value* to = base(store.getPointerOperand());
  with_all_or_some(
      nullptr, [&] { keep_alias_class(*build_.CreateAlignedStore(all, to, store.getAlign()), store); },
      [&] { keep_alias_class(*build_.CreateMaskedStore(all, to, store.getAlign(), mask_), store); });
}

}  // namespace trine::simt::lanes
