// The frame of a block function: loops over the groups of a block.
//
// With barriers, the body of a group ends at each: what it still needs is kept in BlockState::frame, [slot][group], and
// every group comes to the barrier before any goes on behind it. A barrier that not all groups come to is an error.
//
//   state = 0
//   do for each group that has not returned: run it from `state`; it returns, or arrives at a barrier: the next state
//   while some group is at a barrier
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "simt/compile/lanes/group.h"
#include "simt/device_module.h"

namespace trine::simt::lanes {

class Driver {
 public:
  // `shared_bytes`: of static variables, which globals of address space 3 become offsets into.
  Driver(llvm::Function& kernel, const KernelInfo& info, const Group& group, int barriers, const std::string& symbol);
  void finish();  // once all barriers are known

  llvm::Function& function() { return *function_; }
  llvm::Value* argument(const llvm::Argument& argument) const { return arguments_[argument.getArgNo()]; }
  llvm::Value* shared(const llvm::GlobalVariable& variable) const { return shared_.lookup(&variable); }
  llvm::Value* block_word(size_t byte_offset);   // a word of BlockState
  llvm::Value* group() const { return group_; }  // i32
  llvm::Value* first_thread() const { return first_thread_; }
  llvm::Value* group_mask() const { return mask_; }                // lanes that have a thread
  llvm::Instruction* group_start() const { return group_start_; }  // what is put before it, every turn of a group has
  llvm::BasicBlock* body() const { return body_; }                 // to be ended by a jump to the first block
  llvm::BasicBlock* returned() const { return returned_; }
  llvm::BasicBlock* resume(int state);  // where a group goes on behind a barrier; empty
  void arrive(llvm::IRBuilder<>& build, int state, llvm::Value* count);  // ends the current block of `build`
  llvm::Value* counted(llvm::IRBuilder<>& build);                        // the sum of counts of the last barrier
  llvm::Instruction* allocas_end() const { return allocas_end_; }
  bool has_barriers() const { return barriers_ > 0; }
  uint32_t shared_bytes() const { return shared_bytes_; }
  uint32_t frame_bytes() const { return frame_bytes_; }
  // A slot, to be loaded from and stored to at several places.
  uint32_t new_slot(uint32_t bytes);
  llvm::Value* slot_address(llvm::IRBuilder<>& build, uint32_t offset, uint32_t bytes);

 private:
  void place_shared(llvm::Module& module);
  void load_arguments(llvm::Function& kernel, const KernelInfo& info);
  void make_loops();
  void make_turns();

  const Group& shape_;
  const int barriers_;
  llvm::Function* function_;
  llvm::IRBuilder<> entry_;
  llvm::Instruction *allocas_end_ = nullptr, *group_start_ = nullptr;
  llvm::BasicBlock *body_ = nullptr, *returned_ = nullptr, *latch_ = nullptr, *arrival_ = nullptr;
  llvm::PHINode *arrived_state_ = nullptr, *arrived_count_ = nullptr;
  llvm::SwitchInst* dispatch_ = nullptr;
  llvm::AllocaInst *state_ = nullptr, *next_ = nullptr, *sum_ = nullptr, *last_sum_ = nullptr;
  llvm::Value *group_ = nullptr, *first_thread_ = nullptr, *mask_ = nullptr, *frame_ = nullptr;
  std::vector<llvm::Value*> arguments_;
  llvm::DenseMap<const llvm::GlobalVariable*, llvm::Value*> shared_;
  uint32_t shared_bytes_ = 0, frame_bytes_ = 0;
};

}  // namespace trine::simt::lanes
