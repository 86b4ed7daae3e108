#include "simt/compile/lanes/shapes.h"

#include <algorithm>

#include "llvm/IR/CFG.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "simt/compile/lanes/intrinsics.h"
#include "simt/compile/lanes/private_arrays.h"

namespace trine::simt::lanes {
namespace {

constexpr int kZero = 63;  // 2^63 divides 0

int trailing_zeros(const llvm::APInt& value) { return value.isZero() ? kZero : int(value.countr_zero()); }

}  // namespace

Shapes::Shapes(llvm::Function& function, const Order& order, const llvm::LoopInfo& loops, const Group& group,
               const llvm::DenseSet<const llvm::Value*>& interleaved)
    : group_(group), layout_(function.getDataLayout()), interleaved_(interleaved), joins_(order, loops) {
  while (pass(function)) {
  }
  for (llvm::BasicBlock& block : function)  // values that need themselves only: of dead code
    for (llvm::Instruction& instruction : block)
      if (Shape& shape = shapes_[&instruction]; shape.kind == Shape::Kind::unknown) shape = Shape::varying();
}

// Shapes only ever descend from unknown to affine to varying, so this ends.
bool Shapes::pass(llvm::Function& function) {
  bool changed = false;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      const Shape shape = evaluate(instruction);
      Shape& known = shapes_[&instruction];
      if (known == shape || known.is_varying()) continue;
      // A stride that changes from round to round is none.
      const bool descends = known.kind == Shape::Kind::unknown || shape.is_varying() || shape.stride == known.stride;
      if (known.is_affine() && !shape.is_varying() && descends && shape.zeros >= known.zeros) continue;
      known = descends && shape.kind != Shape::Kind::unknown ? shape : Shape::varying();
      changed = true;
    }
    if (divergent_branch(&block)) changed |= joins_.add_branch(&block);
  }
  return changed;
}

Shape Shapes::of(const llvm::Value* value) const {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return Shape::uniform(trailing_zeros(number->getValue()));
  if (!llvm::isa<llvm::Instruction>(value)) return Shape::uniform();
  return shapes_.lookup(value);
}

bool Shapes::divergent_branch(const llvm::BasicBlock* block) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  return branch && branch->isConditional() && of(branch->getCondition()).is_varying();
}

bool Shapes::all_uniform(const llvm::User& user) const {
  return llvm::all_of(user.operands(), [&](const llvm::Value* operand) { return of(operand).is_uniform(); });
}

Shape Shapes::evaluate(const llvm::Instruction& instruction) const {
  using namespace llvm;
  if (const auto* phi = dyn_cast<PHINode>(&instruction)) return of_phi(*phi);
  for (const Value* operand : instruction.operands())
    if (of(operand).kind == Shape::Kind::unknown && !isa<CallInst>(instruction)) return {};
  if (const auto* operation = dyn_cast<BinaryOperator>(&instruction)) return of_binary(*operation);
  if (const auto* cast = dyn_cast<CastInst>(&instruction)) return of_cast(*cast);
  if (const auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) return of_gep(*gep);
  if (const auto* call = dyn_cast<CallInst>(&instruction)) return of_call(*call);
  if (const auto* memory = dyn_cast<AllocaInst>(&instruction)) {
    const int64_t bytes = int64_t(layout_.getTypeAllocSize(memory->getAllocatedType()));
    return Shape::affine(interleaved(memory) ? element_bytes(*memory) : bytes, 0);
  }
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return of(load->getPointerOperand()).is_uniform() ? Shape::uniform() : Shape::varying();
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return Shape::varying();
  if (const auto* select = dyn_cast<SelectInst>(&instruction)) {
    const Shape a = of(select->getTrueValue()), b = of(select->getFalseValue());
    if (!of(select->getCondition()).is_uniform() || !a.is_affine() || !b.is_affine() || a.stride != b.stride)
      return Shape::varying();
    return Shape::affine(a.stride, std::min(a.zeros, b.zeros));
  }
  if (const auto* freeze = dyn_cast<FreezeInst>(&instruction)) return of(freeze->getOperand(0));
  return all_uniform(instruction) ? Shape::uniform() : Shape::varying();
}

Shape Shapes::of_phi(const llvm::PHINode& phi) const {
  if (const llvm::Value* same = phi.hasConstantValue(); same && !joins_.is_join(phi.getParent())) return of(same);
  if (joins_.is_join(phi.getParent())) return Shape::varying();
  Shape met;
  for (const llvm::Value* value : phi.incoming_values()) {
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    const Shape shape = of(value);
    if (shape.kind == Shape::Kind::unknown) continue;
    if (shape.is_varying() || (met.is_affine() && met.stride != shape.stride)) return Shape::varying();
    met = met.is_affine() ? Shape::affine(met.stride, std::min(met.zeros, shape.zeros)) : shape;
  }
  return met;
}

Shape Shapes::of_binary(const llvm::BinaryOperator& operation) const {
  using llvm::Instruction;
  const Shape a = of(operation.getOperand(0)), b = of(operation.getOperand(1));
  if (!a.is_affine() || !b.is_affine() || !operation.getType()->isIntegerTy())
    return a.is_uniform() && b.is_uniform() ? Shape::uniform() : Shape::varying();
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(operation.getOperand(1));
  const bool both_uniform = a.is_uniform() && b.is_uniform();
  // Lanes add less than the lowest bit that the base may have: bits below and above it are apart.
  const int64_t reach = a.stride * (group_.width - 1);
  const auto apart = [&](int bits) { return a.stride >= 0 && reach < int64_t{1} << std::min({a.zeros, bits, 62}); };
  switch (operation.getOpcode()) {
    case Instruction::Add: return Shape::affine(a.stride + b.stride, std::min(a.zeros, b.zeros));
    case Instruction::Sub: return Shape::affine(a.stride - b.stride, std::min(a.zeros, b.zeros));
    case Instruction::Or:
      if (llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint())
        return Shape::affine(a.stride + b.stride, std::min(a.zeros, b.zeros));
      return both_uniform ? Shape::uniform(std::min(a.zeros, b.zeros)) : Shape::varying();
    case Instruction::Mul: {
      const int zeros = std::min(kZero, a.zeros + b.zeros);
      if (both_uniform) return Shape::uniform(zeros);
      if (number && number->getValue().isSignedIntN(32)) return Shape::affine(a.stride * number->getSExtValue(), zeros);
      return Shape::varying();
    }
    case Instruction::Shl:
      if (number && number->getValue().ult(32)) {
        const int by = int(number->getZExtValue());
        return Shape::affine(a.stride << by, std::min(kZero, a.zeros + by));
      }
      return both_uniform ? Shape::uniform(a.zeros) : Shape::varying();
    case Instruction::LShr:
    case Instruction::AShr:
      if (both_uniform) return Shape::uniform(number ? std::max(0, a.zeros - int(number->getLimitedValue(63))) : 0);
      if (number && apart(int(number->getLimitedValue(63))))
        return Shape::uniform(std::max(0, a.zeros - int(number->getLimitedValue(63))));
      return Shape::varying();
    case Instruction::And:
      if (both_uniform) return Shape::uniform(std::max(a.zeros, b.zeros));
      if (number && number->getValue().isMask() && apart(int(number->getValue().countr_one()))) return a;
      if (number && apart(trailing_zeros(number->getValue())))
        return Shape::uniform(std::max(a.zeros, trailing_zeros(number->getValue())));
      return Shape::varying();
    default: return both_uniform ? Shape::uniform() : Shape::varying();
  }
}

// Lanes add less than the lowest bit that the base may have: no carry leaves a narrow number.
bool Shapes::stays_below(const Shape& shape) const {
  return shape.stride >= 0 && shape.stride * (group_.width - 1) < int64_t{1} << std::min(shape.zeros, 62);
}

// The shape that a value of 32 bits has in 64.
Shape Shapes::wide(const llvm::Value* value, bool is_signed, int depth) const {
  const Shape shape = of(value);
  if (!shape.is_affine() || shape.is_uniform()) return shape;
  return stays_below(shape) || (is_signed && widens(value, depth)) ? shape : Shape::varying();
}

bool Shapes::widens(const llvm::Value* value, int depth) const {
  using llvm::Instruction;
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!operation || depth > 4 || of(value).is_uniform() || stays_below(of(value))) return false;
  const bool disjoint =
      operation->getOpcode() == Instruction::Or && llvm::cast<llvm::PossiblyDisjointInst>(operation)->isDisjoint();
  const bool linear = operation->getOpcode() == Instruction::Add || operation->getOpcode() == Instruction::Sub ||
                      operation->getOpcode() == Instruction::Mul || operation->getOpcode() == Instruction::Shl;
  if (!disjoint && !(linear && operation->hasNoSignedWrap())) return false;
  return wide(operation->getOperand(0), true, depth + 1).is_affine() &&
         wide(operation->getOperand(1), true, depth + 1).is_affine();
}

Shape Shapes::of_cast(const llvm::CastInst& cast) const {
  using llvm::Instruction;
  const llvm::Value* from = cast.getOperand(0);
  const Shape shape = of(from);
  switch (cast.getOpcode()) {
    case Instruction::SExt: return wide(from, true);
    case Instruction::ZExt: return wide(from, llvm::cast<llvm::PossiblyNonNegInst>(cast).hasNonNeg());
    case Instruction::Trunc:
      if (shape.is_affine() && cast.getType()->isIntegerTy(1))
        return shape.is_uniform() ? Shape::uniform() : Shape::varying();
      return shape;
    case Instruction::BitCast:
      return cast.getType() == from->getType() || shape.is_uniform() ? shape : Shape::varying();
    case Instruction::AddrSpaceCast:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return shape;
    default: return shape.is_uniform() ? Shape::uniform() : Shape::varying();
  }
}

Shape Shapes::of_gep(const llvm::GetElementPtrInst& gep) const {
  Shape met = of(gep.getPointerOperand());
  const int64_t scale = interleaved(&gep) ? group_.width : 1;
  for (auto type = llvm::gep_type_begin(gep); type != llvm::gep_type_end(gep); ++type) {
    const Shape index = of(type.getOperand());
    if (!met.is_affine() || !index.is_affine()) return Shape::varying();
    if (type.isStruct() || index.is_uniform()) continue;
    // A narrow index that is not affine once widened makes the whole address vary.
    if (type.getOperand()->getType()->getScalarSizeInBits() < 64 && !wide(type.getOperand(), true).is_affine())
      return Shape::varying();
    met.stride += index.stride * scale * int64_t(type.getSequentialElementStride(layout_));
  }
  met.zeros = 0;
  return met;
}

Shape Shapes::of_call(const llvm::CallInst& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  const llvm::Intrinsic::ID id = callee ? callee->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
  const auto uniform = [](bool is) { return is ? Shape::uniform() : Shape::varying(); };
  const int zeros = std::min(group_.log2_width(), 5);
  switch (classify(call)) {
    case CallKind::thread_index: {
      const int axis = thread_axis(id);
      if (group_.one_row()) return axis == 0 ? Shape::affine(1, group_.log2_width()) : Shape::uniform(kZero);
      if (!group_.along_x()) return Shape::varying();
      return axis == 0 ? Shape::affine(1, group_.log2_width()) : Shape::uniform();
    }
    case CallKind::lane_index: return Shape::affine(1, group_.width == 32 ? kZero : zeros);
    case CallKind::block_register:
    case CallKind::barrier:
    case CallKind::fence:
    case CallKind::nothing:
    case CallKind::active_mask: return Shape::uniform();
    case CallKind::vote: return uniform(of(call.getArgOperand(0)).is_uniform());
    case CallKind::reduce: return uniform(of(call.getArgOperand(1)).is_uniform());
    case CallKind::pure:
      return uniform(
          llvm::all_of(call.args(), [&](const llvm::Use& argument) { return of(argument.get()).is_uniform(); }));
    default: return call.getType()->isVoidTy() ? Shape::uniform() : Shape::varying();
  }
}

}  // namespace trine::simt::lanes
