// Operations of a warp, which is a group: a mask of lanes is a number of 32 bits. Who takes part: lanes that are here
// and that the operation's mask names.
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

constexpr int kWarp = 32;

struct ShuffleForm {
  enum Kind { up, down, butterfly, index } kind;
  bool predicate;  // {value, whether the lane is within the segment}
};

ShuffleForm form_of(llvm::Intrinsic::ID id) {
  using namespace llvm;
  switch (id) {
    case Intrinsic::nvvm_shfl_sync_up_i32:
    case Intrinsic::nvvm_shfl_sync_up_f32: return {ShuffleForm::up, false};
    case Intrinsic::nvvm_shfl_sync_up_i32p: return {ShuffleForm::up, true};
    case Intrinsic::nvvm_shfl_sync_down_i32:
    case Intrinsic::nvvm_shfl_sync_down_f32: return {ShuffleForm::down, false};
    case Intrinsic::nvvm_shfl_sync_down_i32p: return {ShuffleForm::down, true};
    case Intrinsic::nvvm_shfl_sync_bfly_i32:
    case Intrinsic::nvvm_shfl_sync_bfly_f32: return {ShuffleForm::butterfly, false};
    case Intrinsic::nvvm_shfl_sync_bfly_i32p: return {ShuffleForm::butterfly, true};
    case Intrinsic::nvvm_shfl_sync_idx_i32p: return {ShuffleForm::index, true};
    default: return {ShuffleForm::index, false};
  }
}

}  // namespace

llvm::Value* Widener::vote(llvm::CallInst& call) {
  llvm::Value *member = call.getArgOperand(0), *predicate = vector(call.getArgOperand(1));
  predicate = build_.CreateFreeze(predicate);
  llvm::Value* yes = bits(build_.CreateAnd(mask_, predicate));
  llvm::Value* no = bits(build_.CreateAnd(mask_, build_.CreateNot(predicate)));
  // Lanes may name different masks: each then has a result of its own.
  const bool uniform = shapes_.of(member).is_uniform();
  llvm::Value* named = uniform ? base(member) : vector(member);
  const auto of_named = [&](llvm::Value* number) { return build_.CreateAnd(uniform ? number : splat(number), named); };
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_vote_all_sync: return build_.CreateIsNull(of_named(no));
    case llvm::Intrinsic::nvvm_vote_any_sync: return build_.CreateIsNotNull(of_named(yes));
    case llvm::Intrinsic::nvvm_vote_uni_sync:
      return build_.CreateOr(build_.CreateIsNull(of_named(no)), build_.CreateIsNull(of_named(yes)));
    default: return of_named(yes);
  }
}

// As PTX has it: a lane's segment is given by operand c, whose upper half masks lane numbers and whose lower half is
// the last lane (of the first: for `up`).
llvm::Value* Widener::shuffle(llvm::CallInst& call) {
  const ShuffleForm form = form_of(call.getIntrinsicID());
  llvm::Value* values = vector(call.getArgOperand(1));
  const bool real = values->getType()->getScalarType()->isFloatTy();
  llvm::Type* word = llvm::FixedVectorType::get(build_.getInt32Ty(), kWarp);
  if (real) values = build_.CreateBitCast(values, word);
  llvm::Value *by = vector(call.getArgOperand(2)), *clamp = vector(call.getArgOperand(3));
  const auto number = [&](uint64_t value) { return llvm::ConstantInt::get(word, value); };
  llvm::Value* lane = lanes_times(build_.getInt32Ty(), 1);
  by = build_.CreateAnd(by, number(31));
  llvm::Value* segment = build_.CreateAnd(build_.CreateLShr(clamp, number(8)), number(31));
  clamp = build_.CreateAnd(clamp, number(31));
  llvm::Value* least = build_.CreateAnd(lane, segment);
  llvm::Value* most = build_.CreateOr(least, build_.CreateAnd(clamp, build_.CreateNot(segment)));
  llvm::Value* from = nullptr;
  switch (form.kind) {
    case ShuffleForm::up: from = build_.CreateSub(lane, by); break;
    case ShuffleForm::down: from = build_.CreateAdd(lane, by); break;
    case ShuffleForm::butterfly: from = build_.CreateXor(lane, by); break;
    case ShuffleForm::index: from = build_.CreateOr(least, build_.CreateAnd(by, build_.CreateNot(segment))); break;
  }
  llvm::Value* inside =
      form.kind == ShuffleForm::up ? build_.CreateICmpSGE(from, most) : build_.CreateICmpSLE(from, most);
  from = build_.CreateSelect(inside, from, lane);
  llvm::Value* moved = permute(values, from);
  if (real) moved = build_.CreateBitCast(moved, wide(build_.getFloatTy()));
  if (!form.predicate) return moved;
  llvm::Value* both = llvm::PoisonValue::get(wide(call.getType()));
  return build_.CreateInsertValue(build_.CreateInsertValue(both, moved, 0), inside, 1);
}

llvm::Value* Widener::permute(llvm::Value* values, llvm::Value* from) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(from)) {
    llvm::SmallVector<int> order;
    for (unsigned i = 0; i < kWarp; ++i) {
      const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(known->getAggregateElement(i));
      order.push_back(number ? int(number->getZExtValue()) : int(i));
    }
    return build_.CreateShuffleVector(values, order);
  }
  if (avx512_) {  // the 32 words are two registers, which one instruction indexes
    const auto half = [&](llvm::Value* all, int first) {
      llvm::SmallVector<int> order;
      for (int i = 0; i < kWarp / 2; ++i) order.push_back(first + i);
      return build_.CreateShuffleVector(all, order);
    };
    llvm::Value *low = half(values, 0), *high = half(values, kWarp / 2);
    llvm::Value* parts[2];
    for (int i = 0; i < 2; ++i)
      parts[i] = build_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                        {low, half(from, i * kWarp / 2), high});
    llvm::SmallVector<int> order;
    for (int i = 0; i < kWarp; ++i) order.push_back(i);
    return build_.CreateShuffleVector(parts[0], parts[1], order);
  }
  llvm::AllocaInst* table = new_variable(values->getType(), "table");
  build_.CreateStore(values, table);
  llvm::Value* places = build_.CreateGEP(build_.getInt32Ty(), table, from);
  return build_.CreateMaskedGather(values->getType(), places, llvm::Align(4),
                                   llvm::Constant::getAllOnesValue(mask_->getType()));
}

llvm::Value* Widener::match(llvm::CallInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::Value *members = spread(call.getArgOperand(0)), *own = spread(call.getArgOperand(1));
  llvm::Value* values = build_.CreateFreeze(vector(call.getArgOperand(1)));
  const bool any_form =
      id == llvm::Intrinsic::nvvm_match_any_sync_i32 || id == llvm::Intrinsic::nvvm_match_any_sync_i64;
  return each_lane(call.getType(), [&](llvm::Value* lane) -> llvm::Value* {
    llvm::Value* member = lane_of(members, call.getArgOperand(0), lane);
    llvm::Value* equal = build_.CreateICmpEQ(values, splat(lane_of(own, call.getArgOperand(1), lane)));
    llvm::Value* same = build_.CreateAnd(bits(build_.CreateAnd(mask_, equal)), member);
    if (any_form) return same;
    llvm::Value* all = build_.CreateICmpEQ(same, build_.CreateAnd(bits(mask_), member));
    llvm::Value* both = build_.CreateInsertValue(llvm::PoisonValue::get(call.getType()),
                                                 build_.CreateSelect(all, same, build_.getInt32(0)), 0);
    return build_.CreateInsertValue(both, all, 1);
  });
}

llvm::Value* Widener::reduce(llvm::CallInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::Value *values = vector(call.getArgOperand(0)), *member = call.getArgOperand(1);
  llvm::Type* type = mask_->getType();
  const auto of_members = [&](llvm::Value* named) -> llvm::Value* {
    llvm::Value* part = build_.CreateAnd(mask_, build_.CreateBitCast(named, type));
    const auto chosen = [&](uint32_t neutral) {
      return build_.CreateSelect(part, values, llvm::ConstantInt::get(values->getType(), neutral));
    };
    switch (id) {
      case llvm::Intrinsic::nvvm_redux_sync_add: return build_.CreateAddReduce(chosen(0));
      case llvm::Intrinsic::nvvm_redux_sync_and: return build_.CreateAndReduce(chosen(~0u));
      case llvm::Intrinsic::nvvm_redux_sync_or: return build_.CreateOrReduce(chosen(0));
      case llvm::Intrinsic::nvvm_redux_sync_xor: return build_.CreateXorReduce(chosen(0));
      case llvm::Intrinsic::nvvm_redux_sync_min: return build_.CreateIntMinReduce(chosen(0x7fffffffu), true);
      case llvm::Intrinsic::nvvm_redux_sync_max: return build_.CreateIntMaxReduce(chosen(0x80000000u), true);
      case llvm::Intrinsic::nvvm_redux_sync_umin: return build_.CreateIntMinReduce(chosen(~0u), false);
      default: return build_.CreateIntMaxReduce(chosen(0), false);
    }
  };
  if (shapes_.of(member).is_uniform()) return of_members(base(member));
  llvm::Value* members = spread(member);
  return each_lane(call.getType(), [&](llvm::Value* lane) { return of_members(lane_of(members, member, lane)); });
}

}  // namespace trine::simt::lanes
