// Writes the body of a block function: each block of the kernel once, its values widened to lanes.
//
// What blocks hand to each other is kept in variables (allocas): values, the phis of a block, and the mask of lanes
// that have arrived at a block and wait. Promotion to registers comes after; so whatever order blocks run in, what they
// read is what was written last. Within a block values are at hand in `local_`.
#pragma once

#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "simt/compile/lanes/driver.h"
#include "simt/compile/lanes/intrinsics.h"
#include "simt/compile/lanes/schedule.h"

namespace trine::simt::lanes {

class Widener {
 public:
  Widener(llvm::Function& kernel, const Group& group, const Order& order, const llvm::LoopInfo& loops,
          const Shapes& shapes, const Schedule& schedule, Driver& driver, bool avx512);
  void run();

  static constexpr uint64_t kMostPrivateBytes = 1 << 20;  // of local arrays, of a group

 private:
  // blocks.cc: control flow
  void begin(llvm::BasicBlock* at);  // the group's lanes set out
  void block(int node);
  void end_of_loop(int node);
  void leave(int node, llvm::BasicBlock& block);
  struct Edge {
    llvm::BasicBlock *from, *to;
    llvm::Value* mask;
    bool certain;  // control is on this edge only if there is a lane
  };
  void take(llvm::ArrayRef<Edge> edges);
  void jump(const Places& waiting, std::initializer_list<int> more);
  llvm::Value* mask_of(int node);
  bool mask_known(int node) const { return schedule_.at(node).everyone || schedule_.at(node).same_as; }
  void forget_phis(const llvm::BasicBlock& dominator);

  // barrier.cc
  void barrier(int node, llvm::CallInst& call);
  std::vector<llvm::Instruction*> live_after(const llvm::BasicBlock& block) const;

  // values.cc: what operands are
  llvm::Type* flat(llvm::Type* type) const;  // pointers are of address space 0
  llvm::Type* wide(llvm::Type* type) const;  // of all lanes
  llvm::Value* base(llvm::Value* value);     // of an affine value: lane 0's
  llvm::Value* vector(llvm::Value* value);   // of all lanes
  llvm::Value* constant(llvm::Value* value);
  llvm::Value* local(llvm::Value* value);  // as it is kept: base or vector
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* lanes_times(llvm::Type* type, int64_t stride);
  void define(llvm::Instruction& instruction, llvm::Value* value);
  llvm::AllocaInst* variable(llvm::Value* value);
  bool crosses_blocks(const llvm::Instruction& instruction) const;
  bool varying(const llvm::Value* value) const { return shapes_.of(value).is_varying(); }

  // instructions.cc
  void instruction(llvm::Instruction& instruction);
  llvm::Value* scalar_copy(llvm::Instruction& instruction);
  llvm::Value* widened(llvm::Instruction& instruction);
  llvm::Value* divided(llvm::BinaryOperator& operation);
  llvm::Value* address(llvm::GetElementPtrInst& gep, bool wide);
  void allocate(llvm::AllocaInst& memory);

  // memory.cc
  void load(llvm::LoadInst& load);
  void store(llvm::StoreInst& store);
  void store_contiguous(llvm::StoreInst& store, llvm::Value* all);
  void load_contiguous(llvm::LoadInst& load);
  void with_all_or_some(llvm::Value* also, llvm::function_ref<void()> whole, llvm::function_ref<void()> part);
  llvm::Value* places(llvm::Value* pointer);
  void wait_for_last(llvm::ArrayRef<llvm::StoreInst*> fields);
  bool contiguous(const llvm::Value* pointer, llvm::Type* type) const;

  // step.cc
  struct Indexed {
    llvm::GetElementPtrInst* gep = nullptr;
    llvm::Value *index = nullptr, *narrow = nullptr;  // operand of the gep; before it was widened
    bool is_signed = false;
    int64_t offset = 0;  // in bytes, from the gep to the address
  };
  struct Step {
    llvm::Value *asked, *first;
  };
  std::optional<int> step_of(const llvm::Value* pointer, llvm::Type* type) const;
  bool is_of_this_block(const llvm::Value* value) const;
  Indexed indexed(llvm::Value* pointer) const;
  llvm::Value* in_step(llvm::Value* value, int64_t stride);
  Step step(llvm::Value* pointer, int64_t stride);
  llvm::Value* load_in_step(llvm::LoadInst& load, llvm::Value* first, int step);
  void store_in_step(llvm::ArrayRef<llvm::StoreInst*> fields, int step);
  void store_fields(llvm::ArrayRef<llvm::StoreInst*> fields, llvm::Value* first);
  llvm::SmallVector<llvm::StoreInst*> fields_with(llvm::StoreInst& store, int step) const;

  // atomics.cc
  void atomic(llvm::AtomicRMWInst& update);
  void swap(llvm::AtomicCmpXchgInst& swap);
  bool reduced(llvm::AtomicRMWInst& update);

  // calls.cc
  void call(llvm::CallInst& call);
  llvm::Value* pure(llvm::CallInst& call, bool wide);
  llvm::Value* thread_index(llvm::CallInst& call);
  llvm::Value* block_register(llvm::CallInst& call);
  void runtime(llvm::CallInst& call);

  // warp.cc
  llvm::Value* vote(llvm::CallInst& call);
  llvm::Value* shuffle(llvm::CallInst& call);
  llvm::Value* match(llvm::CallInst& call);
  llvm::Value* reduce(llvm::CallInst& call);
  llvm::Value* permute(llvm::Value* values, llvm::Value* from);

  // lanes.cc: one lane at a time
  llvm::Value* bits(llvm::Value* mask);  // as an integer of `width` bits
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* last_lane(llvm::Value* mask);
  // Runs `body` for each lane of the mask, ascending (i64); its result, if any, is collected into a vector.
  llvm::Value* each_lane(llvm::Type* result, llvm::function_ref<llvm::Value*(llvm::Value* lane)> body);
  // One lane of a value that was spread before.
  llvm::Value* spread(llvm::Value* value);
  llvm::Value* lane_of(llvm::Value* spread, llvm::Value* original, llvm::Value* lane);

  llvm::AllocaInst* new_variable(llvm::Type* type, const llvm::Twine& name);
  llvm::BasicBlock* new_block(const llvm::Twine& name);

  llvm::Function& kernel_;
  const Group& group_;
  const Order& order_;
  const llvm::LoopInfo& loops_;
  const Shapes& shapes_;
  const Schedule& schedule_;
  Driver& driver_;
  llvm::Function& out_;
  llvm::IRBuilder<> build_;
  llvm::DenseMap<llvm::Value*, llvm::AllocaInst*> variables_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> local_, local_vector_;
  llvm::DenseMap<std::pair<llvm::Value*, int64_t>, llvm::Value*> in_step_;  // what is known in this block
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> own_mask_;
  std::vector<llvm::AllocaInst*> arrived_;  // masks of lanes, by node
  std::vector<llvm::BasicBlock*> start_;    // by node
  llvm::Value* mask_ = nullptr;             // of the current block
  llvm::Instruction* prologue_ = nullptr;   // where the current block reads variables
  int node_ = 0;                            // the current one
  std::vector<llvm::AllocaInst*> own_masks_in_order_;
  int barriers_ = 0;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> places_;  // of private arrays
  // Stores that the last of their fields does for all.
  llvm::DenseSet<const llvm::StoreInst*> waiting_;
  llvm::DenseMap<const llvm::StoreInst*, llvm::SmallVector<llvm::StoreInst*>> last_of_;
  const bool avx512_;
};

void keep_alias_class(llvm::Instruction& made, const llvm::Instruction& from);
bool fills_its_bytes(llvm::Type* type, const llvm::DataLayout& layout);

}  // namespace trine::simt::lanes
