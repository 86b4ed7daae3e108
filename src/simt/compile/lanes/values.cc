// Operands: what an instruction's operand is in the current block, for lane 0 or for all lanes.
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {

llvm::Type* Widener::flat(llvm::Type* type) const {
  if (type->isPointerTy()) return llvm::PointerType::get(type->getContext(), 0);
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Type* field : fields->elements()) types.push_back(flat(field));
    return llvm::StructType::get(type->getContext(), types, fields->isPacked());
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(flat(array->getElementType()), array->getNumElements());
  return type;
}

// Of a struct: a struct of vectors.
llvm::Type* Widener::wide(llvm::Type* type) const {
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Type* field : fields->elements()) types.push_back(wide(field));
    return llvm::StructType::get(type->getContext(), types);
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(wide(array->getElementType()), array->getNumElements());
  if (!llvm::FixedVectorType::isValidElementType(type)) refuse("a value of a type that vectors cannot hold");
  return llvm::FixedVectorType::get(flat(type), unsigned(group_.width));
}

llvm::Value* Widener::constant(llvm::Value* value) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) return driver_.argument(*argument);
  if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value); variable && variable->getAddressSpace() == 3)
    return driver_.shared(*variable);
  auto* known = llvm::cast<llvm::Constant>(value);
  llvm::Type* type = flat(known->getType());
  if (type == known->getType()) return known;
  if (known->isNullValue()) return llvm::Constant::getNullValue(type);
  if (llvm::isa<llvm::PoisonValue>(known)) return llvm::PoisonValue::get(type);
  if (llvm::isa<llvm::UndefValue>(known)) return llvm::UndefValue::get(type);
  if (!type->isPointerTy()) refuse("a constant with pointers of several address spaces");
  return llvm::ConstantExpr::getAddrSpaceCast(known, type);
}

// The value as it is kept. Variables are read where the block begins: what is read there is at hand in all of it.
llvm::Value* Widener::local(llvm::Value* value) {
  if (!llvm::isa<llvm::Instruction>(value)) return constant(value);
  if (llvm::Value* place = places_.lookup(value)) return place;
  llvm::Value*& known = local_[value];
  if (!known) {
    llvm::AllocaInst* from = variable(value);
    llvm::IRBuilder<> prologue(prologue_);
    known = prologue.CreateLoad(from->getAllocatedType(), from, value->getName());
  }
  return known;
}

llvm::Value* Widener::base(llvm::Value* value) { return local(value); }

llvm::Value* Widener::splat(llvm::Value* scalar) {
  llvm::Type* type = scalar->getType();
  if (!type->isAggregateType()) return build_.CreateVectorSplat(unsigned(group_.width), scalar);
  llvm::Value* all = llvm::PoisonValue::get(wide(type));
  const unsigned count = type->isStructTy() ? type->getStructNumElements() : unsigned(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i)
    all = build_.CreateInsertValue(all, splat(build_.CreateExtractValue(scalar, i)), i);
  return all;
}

llvm::Value* Widener::lanes_times(llvm::Type* type, int64_t stride) {
  llvm::SmallVector<llvm::Constant*> lanes;
  for (int i = 0; i < group_.width; ++i)
    lanes.push_back(
        llvm::ConstantInt::get(type, llvm::APInt(64, uint64_t(i * stride)).sextOrTrunc(type->getScalarSizeInBits())));
  return llvm::ConstantVector::get(lanes);
}

llvm::Value* Widener::vector(llvm::Value* value) {
  const Shape shape = shapes_.of(value);
  if (shape.is_varying()) return local(value);
  if (llvm::isa<llvm::PoisonValue>(value)) return llvm::PoisonValue::get(wide(value->getType()));
  if (llvm::Value* known = local_vector_.lookup(value)) return known;
  llvm::Value* scalar = base(value);
  llvm::Value* all = nullptr;
  if (shape.is_uniform()) all = splat(scalar);
  else if (scalar->getType()->isPointerTy())
    all = build_.CreateGEP(build_.getInt8Ty(), scalar, lanes_times(build_.getInt64Ty(), shape.stride));
  else all = build_.CreateAdd(splat(scalar), lanes_times(scalar->getType(), shape.stride));
  return local_vector_[value] = all;
}

bool Widener::crosses_blocks(const llvm::Instruction& instruction) const {
  for (const llvm::Use& use : instruction.uses()) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    if ((phi ? phi->getIncomingBlock(use) : user->getParent()) != instruction.getParent()) return true;
  }
  return false;
}

llvm::AllocaInst* Widener::variable(llvm::Value* value) {
  llvm::AllocaInst*& known = variables_[value];
  if (!known) {
    llvm::Type* type = varying(value) ? wide(value->getType()) : flat(value->getType());
    known = new_variable(type, value->getName());
  }
  return known;
}

void Widener::define(llvm::Instruction& instruction, llvm::Value* value) {
  if (instruction.getType()->isVoidTy()) return;
  local_[&instruction] = value;
  if (crosses_blocks(instruction)) build_.CreateStore(value, variable(&instruction));
}

llvm::AllocaInst* Widener::new_variable(llvm::Type* type, const llvm::Twine& name) {
  llvm::IRBuilder<> entry(driver_.allocas_end()->getContext());
  entry.SetInsertPoint(&*out_.getEntryBlock().getFirstInsertionPt());
  return entry.CreateAlloca(type, nullptr, name);
}

llvm::BasicBlock* Widener::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(out_.getContext(), name, &out_);
}

}  // namespace trine::simt::lanes
