// Atomic operations, one lane after the other, ascending. A block runs on one worker: those on shared memory are plain
// ones. Where all lanes add to one place and nobody asks what was there, lanes are summed first, ascending too; the
// order in which floating-point numbers are added is the one thing that differs from mode `threads`.
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

bool is_shared(const llvm::Value* pointer) { return pointer->getType()->getPointerAddressSpace() == 3; }

}  // namespace

void Widener::atomic(llvm::AtomicRMWInst& update) {
  if (reduced(update)) return;
  llvm::Value *pointer = update.getPointerOperand(), *operand = update.getValOperand();
  llvm::Value *pointers = spread(pointer), *operands = spread(operand);
  llvm::Type* result = update.use_empty() ? build_.getVoidTy() : flat(update.getType());
  llvm::Value* before = each_lane(result, [&](llvm::Value* lane) -> llvm::Value* {
    llvm::Value *to = lane_of(pointers, pointer, lane), *value = lane_of(operands, operand, lane);
    if (!is_shared(pointer))
      return build_.CreateAtomicRMW(update.getOperation(), to, value, update.getAlign(), update.getOrdering());
    llvm::Value* old = build_.CreateAlignedLoad(value->getType(), to, update.getAlign());
    build_.CreateAlignedStore(llvm::buildAtomicRMWValue(update.getOperation(), build_, old, value), to,
                              update.getAlign());
    return old;
  });
  if (before) define(update, before);
}

bool Widener::reduced(llvm::AtomicRMWInst& update) {
  using Op = llvm::AtomicRMWInst::BinOp;
  llvm::Value *pointer = update.getPointerOperand(), *operand = update.getValOperand();
  if (!update.use_empty() || !shapes_.of(pointer).is_uniform()) return false;
  llvm::Type* type = operand->getType();
  const unsigned size = type->getScalarSizeInBits();
  const auto number = [&](const llvm::APInt& value) -> llvm::Constant* { return llvm::ConstantInt::get(type, value); };
  llvm::Constant* neutral = nullptr;
  switch (update.getOperation()) {
    case Op::Add:
    case Op::Sub:
    case Op::Or:
    case Op::Xor:
    case Op::UMax: neutral = number(llvm::APInt::getZero(size)); break;
    case Op::And:
    case Op::UMin: neutral = number(llvm::APInt::getAllOnes(size)); break;
    case Op::Max: neutral = number(llvm::APInt::getSignedMinValue(size)); break;
    case Op::Min: neutral = number(llvm::APInt::getSignedMaxValue(size)); break;
    case Op::FAdd: neutral = llvm::ConstantFP::get(type, -0.0); break;
    default: return false;
  }
  llvm::Value* all = build_.CreateSelect(mask_, vector(operand), splat(neutral));
  llvm::Value* one = nullptr;
  switch (update.getOperation()) {
    case Op::Add:
    case Op::Sub: one = build_.CreateAddReduce(all); break;
    case Op::Or: one = build_.CreateOrReduce(all); break;
    case Op::Xor: one = build_.CreateXorReduce(all); break;
    case Op::And: one = build_.CreateAndReduce(all); break;
    case Op::UMax: one = build_.CreateIntMaxReduce(all, false); break;
    case Op::Max: one = build_.CreateIntMaxReduce(all, true); break;
    case Op::UMin: one = build_.CreateIntMinReduce(all, false); break;
    case Op::Min: one = build_.CreateIntMinReduce(all, true); break;
    default: one = build_.CreateFAddReduce(neutral, all); break;
  }
  llvm::Value* to = base(pointer);
  if (is_shared(pointer)) {
    llvm::Value* old = build_.CreateAlignedLoad(type, to, update.getAlign());
    build_.CreateAlignedStore(llvm::buildAtomicRMWValue(update.getOperation(), build_, old, one), to,
                              update.getAlign());
  } else {
    build_.CreateAtomicRMW(update.getOperation(), to, one, update.getAlign(), update.getOrdering());
  }
  return true;
}

void Widener::swap(llvm::AtomicCmpXchgInst& swap) {
  llvm::Value *pointer = swap.getPointerOperand(), *expected = swap.getCompareOperand(),
              *desired = swap.getNewValOperand();
  llvm::Value *pointers = spread(pointer), *expecteds = spread(expected), *desireds = spread(desired);
  define(swap, each_lane(flat(swap.getType()), [&](llvm::Value* lane) -> llvm::Value* {
           llvm::Value* to = lane_of(pointers, pointer, lane);
           llvm::Value *from = lane_of(expecteds, expected, lane), *value = lane_of(desireds, desired, lane);
           if (!is_shared(pointer))
             return build_.CreateAtomicCmpXchg(to, from, value, swap.getAlign(), swap.getSuccessOrdering(),
                                               swap.getFailureOrdering());
           llvm::Value* old = build_.CreateAlignedLoad(value->getType(), to, swap.getAlign());
           llvm::Value* equal = build_.CreateICmpEQ(old, from);
           build_.CreateAlignedStore(build_.CreateSelect(equal, value, old), to, swap.getAlign());
           llvm::Value* result = build_.CreateInsertValue(llvm::PoisonValue::get(flat(swap.getType())), old, 0);
           return build_.CreateInsertValue(result, equal, 1);
         }));
}

}  // namespace trine::simt::lanes
