#include "simt/compile/lanes/likely.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace trine::simt::lanes {
namespace {

using Stride = std::optional<int64_t>;

constexpr int kDeepest = 10;

class Likely {
 public:
  Likely(const Shapes& shapes, const llvm::DataLayout& layout, int depth)
      : shapes_(shapes), layout_(layout), depth_(depth) {}

  Stride of(const llvm::Value* value) const { return likely_stride(*value, shapes_, layout_, depth_ + 1); }

  // One of two: the one that goes along with the lanes, if the other is an edge.
  Stride either(const llvm::Value* a, const llvm::Value* b) const {
    const Stride x = of(a), y = of(b);
    if (!x || !y) return std::nullopt;
    if (*x == 0) return y;
    return *y == 0 || *x == *y ? x : std::nullopt;
  }

  Stride binary(const llvm::BinaryOperator& operation) const {
    using llvm::Instruction;
    const llvm::Value *left = operation.getOperand(0), *right = operation.getOperand(1);
    const bool by_uniform = shapes_.of(right).is_uniform();
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(right);
    const bool small = number && number->getValue().isSignedIntN(32);
    const Stride a = of(left);
    if (!a) return std::nullopt;
    switch (operation.getOpcode()) {
      case Instruction::Or:
        if (!llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint()) return std::nullopt;
        [[fallthrough]];
      case Instruction::Add: return sum(a, of(right), 1);
      case Instruction::Sub: return sum(a, of(right), -1);
      case Instruction::Mul: return small ? Stride(*a * number->getSExtValue()) : std::nullopt;
      case Instruction::Shl:
        return small && number->getSExtValue() < 32 ? Stride(*a << number->getSExtValue()) : std::nullopt;
      case Instruction::And:
      case Instruction::Xor:
      case Instruction::URem:
      case Instruction::SRem: return by_uniform ? a : std::nullopt;
      case Instruction::UDiv:
      case Instruction::SDiv:
      case Instruction::LShr:
      case Instruction::AShr: return by_uniform ? Stride(0) : std::nullopt;
      default: return std::nullopt;
    }
  }

  Stride address(const llvm::GetElementPtrInst& gep) const {
    if (shapes_.interleaved(&gep)) return std::nullopt;
    Stride all = of(gep.getPointerOperand());
    for (auto type = llvm::gep_type_begin(gep); type != llvm::gep_type_end(gep) && all; ++type) {
      if (type.isStruct()) continue;
      const Stride index = of(type.getOperand());
      if (!index) return std::nullopt;
      *all += *index * int64_t(type.getSequentialElementStride(layout_));
    }
    return all;
  }

 private:
  static Stride sum(Stride a, Stride b, int sign) { return a && b ? Stride(*a + sign * *b) : std::nullopt; }

  const Shapes& shapes_;
  const llvm::DataLayout& layout_;
  const int depth_;
};

}  // namespace

std::optional<int64_t> likely_stride(const llvm::Value& value, const Shapes& shapes, const llvm::DataLayout& layout,
                                     int depth) {
  using namespace llvm;
  const Shape shape = shapes.of(&value);
  if (shape.is_affine()) return shape.stride;
  if (depth > kDeepest || !(value.getType()->isIntegerTy() || value.getType()->isPointerTy())) return std::nullopt;
  const Likely likely(shapes, layout, depth);
  if (const auto* limit = dyn_cast<MinMaxIntrinsic>(&value)) return likely.either(limit->getLHS(), limit->getRHS());
  if (const auto* select = dyn_cast<SelectInst>(&value))
    return likely.either(select->getTrueValue(), select->getFalseValue());
  if (const auto* operation = dyn_cast<BinaryOperator>(&value)) return likely.binary(*operation);
  if (const auto* gep = dyn_cast<GetElementPtrInst>(&value)) return likely.address(*gep);
  if (isa<SExtInst, ZExtInst, TruncInst, FreezeInst, AddrSpaceCastInst>(value))
    return likely.of(cast<User>(value).getOperand(0));
  return std::nullopt;
}

}  // namespace trine::simt::lanes
