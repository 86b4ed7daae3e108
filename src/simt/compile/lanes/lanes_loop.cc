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

llvm::Value* Widener::lane_of(llvm::Value* kept, llvm::Value* original, llvm::Value* lane) {
  return shapes_.of(original).is_uniform() ? kept : build_.CreateExtractElement(kept, lane);
}

llvm::Value* Widener::each_lane(llvm::Type* result, llvm::function_ref<llvm::Value*(llvm::Value* lane)> body) {
  llvm::Value* running = bits(mask_);
  llvm::Type* number = running->getType();
  llvm::BasicBlock *before = build_.GetInsertBlock(), *loop = new_block("lane"), *after = new_block("lanes_done");
  build_.CreateCondBr(build_.CreateIsNotNull(running), loop, after);
  build_.SetInsertPoint(loop);
  llvm::PHINode* left = build_.CreatePHI(number, 2, "left");
  left->addIncoming(running, before);
  llvm::Type* all_type = result->isVoidTy() ? nullptr : wide(result);
  llvm::PHINode* all = all_type ? build_.CreatePHI(all_type, 2) : nullptr;
  if (all) all->addIncoming(llvm::PoisonValue::get(all_type), before);
  llvm::Value* lane = build_.CreateZExtOrTrunc(
      build_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, build_.getTrue()), build_.getInt32Ty());
  llvm::Value* one = body(lane);
  llvm::Value* collected = nullptr;
  if (all && result->isStructTy()) {
    collected = all;
    for (unsigned i = 0; i < result->getStructNumElements(); ++i) {
      llvm::Value* field =
          build_.CreateInsertElement(build_.CreateExtractValue(all, i), build_.CreateExtractValue(one, i), lane);
      collected = build_.CreateInsertValue(collected, field, i);
    }
  } else if (all) {
    collected = build_.CreateInsertElement(all, one, lane);
  }
  llvm::Value* rest = build_.CreateAnd(left, build_.CreateSub(left, llvm::ConstantInt::get(number, 1)));
  llvm::BasicBlock* end = build_.GetInsertBlock();
  left->addIncoming(rest, end);
  build_.CreateCondBr(build_.CreateIsNotNull(rest), loop, after);
  build_.SetInsertPoint(after);
  if (!all) return nullptr;
  all->addIncoming(collected, end);
  llvm::PHINode* gathered = build_.CreatePHI(all_type, 2);
  gathered->addIncoming(llvm::PoisonValue::get(all_type), before);
  gathered->addIncoming(collected, end);
  return gathered;
}

}  // namespace trine::simt::lanes
