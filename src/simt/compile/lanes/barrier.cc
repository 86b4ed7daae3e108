// A barrier ends the group's turn: what is read behind it goes to the frame, and comes back at the group's next turn.
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

enum class Question : uint8_t { none, count, all, any };

Question question(llvm::Intrinsic::ID id) {
  using namespace llvm;
  switch (id) {
    case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_and_all: return Question::all;
    case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_or_all: return Question::any;
    case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_popc_all: return Question::count;
    default: return Question::none;
  }
}

}  // namespace

// Instructions before the barrier that are read behind it, in the order of the kernel.
std::vector<llvm::Instruction*> Widener::live_after(const llvm::BasicBlock& barrier) const {
  const llvm::BasicBlock* behind = barrier.getSingleSuccessor();
  std::vector<llvm::Instruction*> live;
  for (llvm::BasicBlock& block : kernel_)
    for (llvm::Instruction& instruction : block) {
      if (&block == &barrier || !crosses_blocks(instruction)) continue;
      // Backwards from its uses to its definition.
      llvm::SmallVector<const llvm::BasicBlock*> todo;
      llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
      for (const llvm::Use& use : instruction.uses()) {
        const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
        const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
        const llvm::BasicBlock* at = phi ? phi->getIncomingBlock(use) : user->getParent();
        if (at != &block) todo.push_back(at);
      }
      while (!todo.empty()) {
        const llvm::BasicBlock* at = todo.pop_back_val();
        if (at == &block || !seen.insert(at).second) continue;
        todo.append(llvm::pred_begin(at), llvm::pred_end(at));
      }
      if (seen.contains(behind)) live.push_back(&instruction);
    }
  return live;
}

void Widener::barrier(int node, llvm::CallInst& call) {
  const Visit& visit = schedule_.at(node);
  // Lanes that wait elsewhere must be on their way out: they count as if they had returned.
  std::vector<llvm::AllocaInst*> variables = own_masks_in_order_;
  for (int place : visit.waiting) {
    if (place == order_.exit()) continue;
    llvm::BasicBlock* out = order_.nodes[size_t(place)].block;
    if (!out || order_.before_barrier.contains(out))
      refuse("a barrier that not all threads of a warp may reach together");
    if (arrived_[size_t(place)]) variables.push_back(arrived_[size_t(place)]);
    for (llvm::PHINode& phi : out->phis()) variables.push_back(variable(&phi));
  }
  const Question asked = question(call.getIntrinsicID());
  llvm::Value* count = build_.getInt32(0);
  if (asked != Question::none) {  // how many threads say yes, or no where all must say yes
    llvm::Value* yes = build_.CreateFreeze(vector(call.getArgOperand(1)));
    if (asked == Question::all) yes = build_.CreateNot(yes);
    llvm::Value* number = bits(build_.CreateAnd(mask_, yes));
    count = build_.CreateZExtOrTrunc(build_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, number), build_.getInt32Ty());
  }

  struct Kept {
    llvm::AllocaInst* variable;
    uint32_t slot, bytes;
  };
  std::vector<Kept> kept;
  if (!mask_known(node)) variables.push_back(arrived_[size_t(node)]), build_.CreateStore(mask_, variables.back());
  for (llvm::Instruction* instruction : live_after(*call.getParent()))
    if (!llvm::isa<llvm::AllocaInst>(instruction)) variables.push_back(variable(instruction));
  const llvm::DataLayout& layout = kernel_.getDataLayout();
  for (llvm::AllocaInst* variable : variables) {
    const uint32_t bytes = uint32_t(layout.getTypeAllocSize(variable->getAllocatedType()));
    kept.push_back({variable, driver_.new_slot(bytes), bytes});
    build_.CreateStore(build_.CreateLoad(variable->getAllocatedType(), variable),
                       driver_.slot_address(build_, kept.back().slot, bytes));
  }
  driver_.arrive(build_, ++barriers_, count);

  local_.clear(), local_vector_.clear(), in_step_.clear();
  begin(driver_.resume(barriers_));
  for (const Kept& one : kept)
    build_.CreateStore(
        build_.CreateLoad(one.variable->getAllocatedType(), driver_.slot_address(build_, one.slot, one.bytes)),
        one.variable);
  mask_ = mask_of(node);
  if (!mask_known(node)) build_.CreateStore(llvm::Constant::getNullValue(mask_->getType()), arrived_[size_t(node)]);
  prologue_ = build_.Insert(new llvm::FreezeInst(build_.getFalse()), "prologue");
  if (asked == Question::none) return;
  llvm::Value* sum = driver_.counted(build_);
  if (asked == Question::all) return define(call, build_.CreateIsNull(sum));
  define(call, asked == Question::any ? build_.CreateIsNotNull(sum) : sum);
}

}  // namespace trine::simt::lanes
