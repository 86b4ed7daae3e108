//   a: x = i * n      b: y = i * n             x = i * n
//                                    becomes
//   join: p = phi [x, a], [y, b]               (for p) at the end of the block where a and b part
//
// Operands are compared in the same way. The result is poison only where what came by some way was: the join is the
// only place that reads it.
#include "simt/compile/lanes/equal_phis.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/intrinsics.h"

namespace trine::simt::lanes {
namespace {

constexpr int kDeepest = 6;

// May run where it did not, and results in the same wherever it runs.
bool is_free(const llvm::Instruction& instruction) {
  using namespace llvm;
  if (const auto* call = dyn_cast<CallInst>(&instruction)) {
    const CallKind kind = classify(*call);
    return kind == CallKind::thread_index || kind == CallKind::lane_index || kind == CallKind::block_register;
  }
  if (const auto* operation = dyn_cast<BinaryOperator>(&instruction)) return !operation->isIntDivRem();
  return isa<CastInst, GetElementPtrInst, CmpInst, SelectInst>(instruction);
}

class EqualPhis {
 public:
  explicit EqualPhis(llvm::Function& kernel) : kernel_(kernel), tree_(kernel) {}

  // Joins come after what leads to them: their values may have been phis of this kind.
  void run() {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&kernel_))
      for (llvm::PHINode& phi : llvm::make_early_inc_range(block->phis())) merge(phi);
  }

 private:
  using Values = llvm::SmallVector<llvm::Value*, 4>;

  void merge(llvm::PHINode& phi) {
    const auto* above = tree_.getNode(phi.getParent())->getIDom();
    if (!above) return;
    const Values values(phi.incoming_values());
    llvm::Instruction* at = above->getBlock()->getTerminator();
    for (llvm::Value* value : values)
      if (!same(values[0], value, *at, 0)) return;
    phi.replaceAllUsesWith(compute(values, *at));
    phi.eraseFromParent();
  }

  bool same(llvm::Value* a, llvm::Value* b, const llvm::Instruction& at, int depth) const {
    if (a == b && is_known(a, at)) return true;
    auto *x = llvm::dyn_cast<llvm::Instruction>(a), *y = llvm::dyn_cast<llvm::Instruction>(b);
    if (!x || !y || depth > kDeepest || !is_free(*x) || !x->isSameOperationAs(y)) return false;
    for (unsigned i = 0; i < x->getNumOperands(); ++i)
      if (!same(x->getOperand(i), y->getOperand(i), at, depth + 1)) return false;
    return true;
  }

  bool is_known(llvm::Value* value, const llvm::Instruction& at) const { return tree_.dominates(value, &at); }

  llvm::Value* compute(const Values& values, llvm::Instruction& at) {
    if (llvm::all_equal(values) && is_known(values[0], at)) return values[0];
    auto* first = llvm::cast<llvm::Instruction>(values[0]);
    llvm::Instruction* copy = first->clone();
    for (unsigned i = 0; i < first->getNumOperands(); ++i) {
      Values operands;
      for (llvm::Value* value : values) operands.push_back(llvm::cast<llvm::Instruction>(value)->getOperand(i));
      copy->setOperand(i, compute(operands, at));
    }
    for (llvm::Value* value : values) copy->andIRFlags(value);
    copy->dropUnknownNonDebugMetadata();
    copy->insertBefore(at.getIterator());
    copy->takeName(first);
    return copy;
  }

  llvm::Function& kernel_;
  const llvm::DominatorTree tree_;
};

}  // namespace

void merge_equal_phis(llvm::Function& kernel) { EqualPhis(kernel).run(); }

}  // namespace trine::simt::lanes
