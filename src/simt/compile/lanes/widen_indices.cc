#include "simt/compile/lanes/widen_indices.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace trine::simt::lanes {
namespace {

class Indices {
 public:
  explicit Indices(const Shapes& shapes) : shapes_(shapes) {}

  // Beside the definition of the narrow value, where its operands are at hand.
  llvm::Value* wide(llvm::Value* value, llvm::Type* to) {
    auto* narrow = llvm::dyn_cast<llvm::Instruction>(value);
    if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(value))
      return llvm::ConstantInt::get(to, number->getValue().sext(to->getScalarSizeInBits()));
    llvm::Value*& known = known_[{value, to}];
    if (known) return known;
    if (narrow && shapes_.widens(narrow)) {
      using llvm::Instruction;
      llvm::Value *a = wide(narrow->getOperand(0), to), *b = wide(narrow->getOperand(1), to);
      llvm::IRBuilder<> build(narrow->getNextNode());
      const bool disjoint = narrow->getOpcode() == Instruction::Or;
      llvm::Value* sum =
          build.CreateBinOp(disjoint ? Instruction::Add : llvm::cast<llvm::BinaryOperator>(narrow)->getOpcode(), a, b);
      return known_[{value, to}] = sum;
    }
    const auto place = !narrow                            ? entry_
                       : llvm::isa<llvm::PHINode>(narrow) ? narrow->getParent()->getFirstInsertionPt()
                                                          : std::next(narrow->getIterator());
    llvm::IRBuilder<> build(place->getParent(), place);
    return known = build.CreateSExt(value, to);
  }

  void run(llvm::Function& kernel) {
    entry_ = kernel.getEntryBlock().getFirstInsertionPt();
    llvm::SmallVector<llvm::Instruction*> casts;
    for (llvm::BasicBlock& block : kernel)
      for (llvm::Instruction& instruction : block) {
        const bool is_signed = llvm::isa<llvm::SExtInst>(instruction) ||
                               (llvm::isa<llvm::ZExtInst>(instruction) && instruction.hasNonNeg());
        if (is_signed && shapes_.of(&instruction).is_affine() && shapes_.widens(instruction.getOperand(0)))
          casts.push_back(&instruction);
      }
    for (llvm::Instruction* cast : casts) {
      cast->replaceAllUsesWith(wide(cast->getOperand(0), cast->getType()));
      cast->eraseFromParent();
    }
  }

 private:
  const Shapes& shapes_;
  llvm::DenseMap<std::pair<llvm::Value*, llvm::Type*>, llvm::Value*> known_;
  llvm::BasicBlock::iterator entry_;
};

}  // namespace

void widen_indices(llvm::Function& kernel, const Shapes& shapes) { Indices(shapes).run(kernel); }

}  // namespace trine::simt::lanes
