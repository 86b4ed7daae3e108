// Masks as numbers, and one lane at a time.
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {

llvm::Value* Widener::bits(llvm::Value* mask) {
  return build_.CreateBitCast(mask, build_.getIntNTy(unsigned(group_.width)));
}

llvm::Value* Widener::any(llvm::Value* mask) { return build_.CreateIsNotNull(bits(mask)); }

llvm::Value* Widener::last_lane(llvm::Value* mask) {
  llvm::Value* number = bits(mask);
  llvm::Value* zeros = build_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number, build_.getTrue());
  llvm::Value* last = llvm::ConstantInt::get(number->getType(), uint64_t(group_.width - 1));
  return build_.CreateZExtOrTrunc(build_.CreateSub(last, zeros), build_.getInt32Ty());
}

// Lanes are picked by numbers that are not constant: from memory, for a vector's register cannot be indexed.
llvm::Value* Widener::spread(llvm::Value* value) {
  if (shapes_.of(value).is_uniform()) return base(value);
  llvm::Value* all = vector(value);
  if (all->getType()->getScalarType()->isIntegerTy(1)) return all;
  llvm::AllocaInst* lanes = new_variable(all->getType(), "lanes");
  build_.CreateStore(all, lanes);
  return lanes;
}

llvm::Value* Widener::lane_of(llvm::Value* spread, llvm::Value* original, llvm::Value* lane) {
  if (shapes_.of(original).is_uniform()) return spread;
  if (spread->getType()->isVectorTy()) return build_.CreateExtractElement(spread, lane);
  llvm::Type* type = flat(original->getType());
  return build_.CreateLoad(type, build_.CreateInBoundsGEP(type, spread, lane));
}

namespace {

// Memory for what each lane results in: a vector, or one for each field of a struct.
class Results {
 public:
  using New = llvm::function_ref<llvm::AllocaInst*(llvm::Type*)>;
  Results(llvm::Type* wide, New new_variable) : wide_(wide) {
    if (!wide) return;
    fields_.append(wide->isStructTy() ? wide->getStructNumElements() : 1u, nullptr);
    for (unsigned i = 0; i < fields_.size(); ++i) fields_[i] = new_variable(type_of(i));
  }

  void store(llvm::IRBuilder<>& build, llvm::Value* one, llvm::Value* lane) {
    for (unsigned i = 0; i < fields_.size(); ++i) {
      llvm::Value* field = wide_->isStructTy() ? build.CreateExtractValue(one, i) : one;
      if (type_of(i)->getScalarType()->isIntegerTy(1)) {  // bits cannot be addressed
        llvm::Value* all = build.CreateLoad(type_of(i), fields_[i]);
        build.CreateStore(build.CreateInsertElement(all, field, lane), fields_[i]);
      } else {
        build.CreateStore(field, build.CreateInBoundsGEP(field->getType(), fields_[i], lane));
      }
    }
  }

  llvm::Value* load(llvm::IRBuilder<>& build) {
    if (!wide_) return nullptr;
    if (!wide_->isStructTy()) return build.CreateLoad(wide_, fields_[0]);
    llvm::Value* all = llvm::PoisonValue::get(wide_);
    for (unsigned i = 0; i < fields_.size(); ++i)
      all = build.CreateInsertValue(all, build.CreateLoad(type_of(i), fields_[i]), i);
    return all;
  }

 private:
  llvm::Type* type_of(unsigned field) const { return wide_->isStructTy() ? wide_->getStructElementType(field) : wide_; }
  llvm::Type* wide_;
  llvm::SmallVector<llvm::AllocaInst*> fields_;
};

}  // namespace

llvm::Value* Widener::each_lane(llvm::Type* result, llvm::function_ref<llvm::Value*(llvm::Value* lane)> body) {
  llvm::Value* running = bits(mask_);
  llvm::Type* number = running->getType();
  Results results(result->isVoidTy() ? nullptr : wide(result),
                  [&](llvm::Type* type) { return new_variable(type, "results"); });
  llvm::BasicBlock *before = build_.GetInsertBlock(), *loop = new_block("lane"), *after = new_block("lanes_done");
  build_.CreateCondBr(build_.CreateIsNotNull(running), loop, after);
  build_.SetInsertPoint(loop);
  llvm::PHINode* left = build_.CreatePHI(number, 2, "left");
  left->addIncoming(running, before);
  llvm::Value* lane = build_.CreateZExtOrTrunc(
      build_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, build_.getTrue()), build_.getInt64Ty());
  results.store(build_, body(lane), lane);
  llvm::Value* rest = build_.CreateAnd(left, build_.CreateSub(left, llvm::ConstantInt::get(number, 1)));
  left->addIncoming(rest, build_.GetInsertBlock());
  build_.CreateCondBr(build_.CreateIsNotNull(rest), loop, after);
  build_.SetInsertPoint(after);
  return results.load(build_);
}

}  // namespace trine::simt::lanes
