// One instruction: a scalar copy where it is affine, one on vectors where it varies.
#include "llvm/IR/Instructions.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "simt/compile/lanes/private_arrays.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

bool divides(const llvm::BinaryOperator& operation) {
  using llvm::Instruction;
  const unsigned opcode = operation.getOpcode();
  return opcode == Instruction::SDiv || opcode == Instruction::UDiv || opcode == Instruction::SRem ||
         opcode == Instruction::URem;
}

}  // namespace

void Widener::instruction(llvm::Instruction& one) {
  using namespace llvm;
  if (auto* from = dyn_cast<LoadInst>(&one)) return load(*from);
  if (auto* to = dyn_cast<StoreInst>(&one)) return store(*to);
  if (auto* update = dyn_cast<AtomicRMWInst>(&one)) return atomic(*update);
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&one)) return swap(*exchange);
  if (auto* callee = dyn_cast<CallInst>(&one)) return call(*callee);
  if (auto* memory = dyn_cast<AllocaInst>(&one)) return allocate(*memory);
  if (isa<FenceInst>(one)) {
    build_.Insert(one.clone());
    return;
  }
  define(one, varying(&one) ? widened(one) : scalar_copy(one));
}

llvm::Value* Widener::scalar_copy(llvm::Instruction& one) {
  using namespace llvm;
  if (auto* gep = dyn_cast<GetElementPtrInst>(&one)) return address(*gep, false);
  if (isa<AddrSpaceCastInst>(one)) return base(one.getOperand(0));
  const bool uniform = shapes_.of(&one).is_uniform() && llvm::all_of(one.operands(), [&](const Use& operand) {
                         return shapes_.of(operand.get()).is_uniform();
                       });
  // Where lane 0 does not run, its bits may meet; the lanes that do run count from its sum.
  const auto* bits = dyn_cast<PossiblyDisjointInst>(&one);
  if (bits && bits->isDisjoint() && !uniform)
    return build_.CreateAdd(base(one.getOperand(0)), base(one.getOperand(1)), one.getName());
  Instruction* copy = one.clone();
  copy->dropUnknownNonDebugMetadata();
  copy->setDebugLoc({});
  copy->mutateType(flat(one.getType()));
  for (Use& operand : copy->operands()) operand.set(base(operand.get()));
  if (!uniform) copy->dropPoisonGeneratingFlags();  // lane 0 may not be running
  return build_.Insert(copy, one.getName());
}

llvm::Value* Widener::widened(llvm::Instruction& one) {
  using namespace llvm;
  const auto all = [&](unsigned operand) { return vector(one.getOperand(operand)); };
  Value* result = nullptr;
  if (auto* operation = dyn_cast<BinaryOperator>(&one)) {
    if (divides(*operation)) return divided(*operation);
    Value *a = all(0), *b = all(1);
    result = build_.CreateBinOp(operation->getOpcode(), a, b);
  } else if (auto* negation = dyn_cast<UnaryOperator>(&one)) {
    result = build_.CreateUnOp(negation->getOpcode(), all(0));
  } else if (isa<AddrSpaceCastInst>(one)) {
    return all(0);
  } else if (auto* cast = dyn_cast<CastInst>(&one)) {
    result = build_.CreateCast(cast->getOpcode(), all(0), wide(one.getType()));
  } else if (auto* compare = dyn_cast<CmpInst>(&one)) {
    Value *a = all(0), *b = all(1);
    result = build_.CreateCmp(compare->getPredicate(), a, b);
  } else if (auto* select = dyn_cast<SelectInst>(&one)) {
    Value* condition = select->getCondition();
    Value *chosen = varying(condition) ? vector(condition) : base(condition), *a = all(1), *b = all(2);
    if (a->getType()->isAggregateType() && varying(condition)) refuse("a choice between structs");
    result = build_.CreateSelect(chosen, a, b);
  } else if (isa<FreezeInst>(one)) {
    return build_.CreateFreeze(all(0));
  } else if (auto* gep = dyn_cast<GetElementPtrInst>(&one)) {
    return address(*gep, true);
  } else if (auto* extract = dyn_cast<ExtractValueInst>(&one)) {
    return build_.CreateExtractValue(all(0), extract->getIndices());
  } else if (auto* insert = dyn_cast<InsertValueInst>(&one)) {
    Value *into = all(0), *value = all(1);
    return build_.CreateInsertValue(into, value, insert->getIndices());
  } else {
    refuse(std::string("an instruction ") + one.getOpcodeName());
  }
  if (auto* made = dyn_cast<Instruction>(result)) made->copyIRFlags(&one);
  return result;
}

// Lanes that are not running must not divide by zero. Quotients of 32 bits are those of doubles, cut off: two different
// quotients a/b differ by more than doubles err.
llvm::Value* Widener::divided(llvm::BinaryOperator& operation) {
  using llvm::Instruction;
  llvm::Value *a = vector(operation.getOperand(0)), *b = vector(operation.getOperand(1));
  const unsigned opcode = operation.getOpcode();
  llvm::Type* type = a->getType();
  if (!llvm::isa<llvm::ConstantInt>(operation.getOperand(1)))
    b = build_.CreateSelect(mask_, b, llvm::ConstantInt::get(type, 1));
  else return build_.CreateBinOp(operation.getOpcode(), a, b);
  if (type->getScalarSizeInBits() > 32) return build_.CreateBinOp(operation.getOpcode(), a, b);
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  llvm::Type* real = llvm::FixedVectorType::get(build_.getDoubleTy(), unsigned(group_.width));
  const auto to_real = [&](llvm::Value* value) {
    return is_signed ? build_.CreateSIToFP(value, real) : build_.CreateUIToFP(value, real);
  };
  llvm::Value* quotient = build_.CreateFDiv(to_real(a), to_real(b));
  // An exact quotient may be 2^31, of the most negative number and -1: undefined then, as in the source.
  quotient = is_signed ? build_.CreateFPToSI(quotient, type) : build_.CreateFPToUI(quotient, type);
  if (opcode == Instruction::SDiv || opcode == Instruction::UDiv) return quotient;
  return build_.CreateSub(a, build_.CreateMul(quotient, b));
}

llvm::Value* Widener::address(llvm::GetElementPtrInst& gep, bool is_wide) {
  llvm::Value* pointer = gep.getPointerOperand();
  const auto wide_operand = [&](llvm::Value* value) {
    return is_wide && !shapes_.of(value).is_uniform() ? vector(value) : base(value);
  };
  llvm::Value* start = wide_operand(pointer);
  llvm::Type* number = build_.getInt64Ty();
  const auto index_of = [&](llvm::Value* index) {
    return is_wide || shapes_.of(index).is_uniform() ? wide_operand(index)
                                                     : build_.CreateSExtOrTrunc(base(index), number);
  };
  if (!shapes_.interleaved(&gep)) {
    llvm::SmallVector<llvm::Value*> indices;
    for (llvm::Use& index : gep.indices()) indices.push_back(index_of(index.get()));
    const bool exact = is_wide || (shapes_.of(&gep).is_uniform() && shapes_.of(pointer).is_uniform());
    return build_.CreateGEP(gep.getSourceElementType(), start, indices, gep.getName(),
                            exact ? gep.getNoWrapFlags() : llvm::GEPNoWrapFlags::none());
  }
  llvm::Value* offset = build_.getInt64(0);
  const auto add = [&](llvm::Value* more) {
    if (more->getType()->isVectorTy() && !offset->getType()->isVectorTy()) offset = splat(offset);
    if (!more->getType()->isVectorTy() && offset->getType()->isVectorTy()) more = splat(more);
    offset = build_.CreateAdd(offset, more);
  };
  const llvm::DataLayout& layout = gep.getDataLayout();
  for (auto type = llvm::gep_type_begin(gep); type != llvm::gep_type_end(gep); ++type) {
    if (llvm::StructType* fields = type.getStructTypeOrNull()) {
      const auto field = unsigned(llvm::cast<llvm::ConstantInt>(type.getOperand())->getZExtValue());
      add(build_.getInt64(layout.getStructLayout(fields)->getElementOffset(field)));
      continue;
    }
    llvm::Value* index = index_of(type.getOperand());
    llvm::Type* to =
        index->getType()->isVectorTy() ? llvm::FixedVectorType::get(number, unsigned(group_.width)) : number;
    index = build_.CreateSExtOrTrunc(index, to);
    add(build_.CreateMul(index, llvm::ConstantInt::get(to, type.getSequentialElementStride(layout))));
  }
  offset = build_.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), uint64_t(group_.width)));
  return build_.CreateGEP(build_.getInt8Ty(), start, offset);
}

// A thread's own memory: on the stack, or in the frame where it must outlive a barrier.
void Widener::allocate(llvm::AllocaInst& memory) {
  if (!memory.isStaticAlloca()) refuse("alloca of a size that is not constant");
  const uint64_t bytes = memory.getDataLayout().getTypeAllocSize(memory.getAllocatedType()) * uint64_t(group_.width);
  if (bytes > kMostPrivateBytes) refuse("local arrays of " + std::to_string(bytes / uint64_t(group_.width)) + " bytes");
  llvm::Value* place = nullptr;
  if (driver_.has_barriers()) {
    const auto rounded = uint32_t((bytes + 63) / 64 * 64);
    llvm::IRBuilder<> group(driver_.group_start());
    place = driver_.slot_address(group, driver_.new_slot(rounded), rounded);
  } else {
    llvm::AllocaInst* stack = new_variable(llvm::ArrayType::get(build_.getInt8Ty(), bytes), memory.getName());
    stack->setAlignment(llvm::Align(64));
    place = stack;
  }
  places_[&memory] = place;
}

}  // namespace trine::simt::lanes
