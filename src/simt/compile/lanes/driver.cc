#include "simt/compile/lanes/driver.h"

#include <algorithm>
#include <cstddef>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "simt/compile/shared_addresses.h"
#include "simt/run/abi.h"

namespace trine::simt::lanes {
namespace {

constexpr uint32_t kFrameAlign = 64;

uint32_t round_up(uint64_t value, uint64_t to) { return uint32_t((value + to - 1) / to * to); }

}  // namespace

Driver::Driver(llvm::Function& kernel, const KernelInfo& info, const Group& group, int barriers,
               const std::string& symbol)
    : shape_(group), barriers_(barriers), entry_(kernel.getContext()) {
  llvm::Type* pointer = entry_.getPtrTy();
  function_ = llvm::Function::Create(llvm::FunctionType::get(entry_.getVoidTy(), {pointer, pointer}, false),
                                     llvm::GlobalValue::ExternalLinkage, symbol, kernel.getParent());
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Argument& argument : function_->args()) argument.addAttr(llvm::Attribute::NoAlias);
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(kernel.getContext(), "entry", function_);
  llvm::BasicBlock* round = llvm::BasicBlock::Create(kernel.getContext(), "round", function_);
  entry_.SetInsertPoint(entry);
  allocas_end_ = entry_.CreateBr(round);
  entry_.SetInsertPoint(allocas_end_);
  place_shared(*kernel.getParent());
  load_arguments(kernel, info);
  make_loops();
}

// Fields of the state and of the parameters do not change while a block runs.
llvm::Value* Driver::block_word(size_t byte_offset) {
  llvm::LoadInst* word = entry_.CreateLoad(
      entry_.getInt32Ty(), entry_.CreateConstGEP1_64(entry_.getInt8Ty(), function_->getArg(0), byte_offset));
  word->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function_->getContext(), {}));
  return word;
}

void Driver::place_shared(llvm::Module& module) {
  llvm::Value* arena = nullptr;
  const auto at = [&](uint64_t offset) {
    if (!arena)
      arena = entry_.CreateLoad(entry_.getPtrTy(), entry_.CreateConstGEP1_64(entry_.getInt8Ty(), function_->getArg(0),
                                                                             offsetof(BlockState, shared)));
    return entry_.CreateConstGEP1_64(entry_.getInt8Ty(), arena, offset);
  };
  llvm::SmallVector<llvm::GlobalVariable*> dynamic;
  uint64_t dynamic_align = 16;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != 3) continue;
    if (variable.getName() == kSharedArena) {
      shared_[&variable] = at(0);
      continue;
    }
    const llvm::DataLayout& layout = module.getDataLayout();
    const uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    const uint64_t align =
        std::max(layout.getABITypeAlign(variable.getValueType()), variable.getAlign().valueOrOne()).value();
    if (variable.isDeclaration() || bytes == 0) {
      dynamic_align = std::max(dynamic_align, align);
      dynamic.push_back(&variable);
      continue;
    }
    shared_bytes_ = round_up(shared_bytes_, align);
    shared_[&variable] = at(shared_bytes_);
    shared_bytes_ += uint32_t(bytes);
  }
  shared_bytes_ = round_up(shared_bytes_, dynamic_align);
  for (llvm::GlobalVariable* variable : dynamic) shared_[variable] = at(shared_bytes_);
}

void Driver::load_arguments(llvm::Function& kernel, const KernelInfo& info) {
  llvm::Value* parameters = function_->getArg(1);
  for (llvm::Argument& argument : kernel.args()) {
    const uint32_t offset = info.parameters.at(argument.getArgNo()).offset;
    llvm::Value* place = entry_.CreateConstGEP1_64(entry_.getInt8Ty(), parameters, offset);
    llvm::Type* type = argument.getType();
    if (argument.hasNoAliasAttr() && argument.hasAttribute(llvm::Attribute::ReadOnly) &&
        argument.hasAttribute("trine-by-value")) {
      arguments_.push_back(place);
      continue;
    }
    llvm::LoadInst* load =
        entry_.CreateLoad(type->isIntegerTy(1) ? entry_.getInt8Ty() : type, place, argument.getName());
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function_->getContext(), {}));
    arguments_.push_back(type->isIntegerTy(1) ? entry_.CreateTrunc(load, type) : load);
  }
}

void Driver::make_loops() {
  llvm::LLVMContext& context = function_->getContext();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function_); };
  llvm::BasicBlock* round = allocas_end_->getSuccessor(0);
  llvm::BasicBlock *groups = block("groups"), *end = block("end");
  body_ = block("body"), returned_ = block("returned"), latch_ = block("next_group");
  llvm::IRBuilder<> build(context);
  llvm::Type* word = build.getInt32Ty();
  if (has_barriers()) {
    frame_ = entry_.CreateLoad(entry_.getPtrTy(), entry_.CreateConstGEP1_64(entry_.getInt8Ty(), function_->getArg(0),
                                                                            offsetof(BlockState, frame)));
    state_ = entry_.CreateAlloca(word), next_ = entry_.CreateAlloca(word);
    sum_ = entry_.CreateAlloca(word), last_sum_ = entry_.CreateAlloca(word);
    entry_.CreateStore(entry_.getInt32(0), state_);
    entry_.CreateStore(entry_.getInt32(0), last_sum_);
    frame_bytes_ = round_up(shape_.count(), kFrameAlign);
    entry_.CreateMemSet(frame_, entry_.getInt8(0), frame_bytes_, llvm::Align(kFrameAlign));  // who has returned
  }
  build.SetInsertPoint(round);
  if (has_barriers()) {
    build.CreateStore(build.getInt32(0), next_);
    build.CreateStore(build.getInt32(0), sum_);
  }
  build.CreateBr(groups);

  build.SetInsertPoint(groups);
  llvm::PHINode* group = build.CreatePHI(word, 2, "group");
  group->addIncoming(build.getInt32(0), round);
  group_ = group;
  first_thread_ = build.CreateMul(group_, build.getInt32(uint32_t(shape_.width)), "first", true, true);
  llvm::Type* mask = llvm::FixedVectorType::get(build.getInt1Ty(), unsigned(shape_.width));
  mask_ = llvm::Constant::getAllOnesValue(mask);
  if (!shape_.whole()) {
    llvm::SmallVector<uint32_t> lanes;
    for (int i = 0; i < shape_.width; ++i) lanes.push_back(uint32_t(i));
    llvm::Value* left = build.CreateSub(build.getInt32(shape_.threads()), first_thread_);
    mask_ = build.CreateICmpULT(llvm::ConstantDataVector::get(context, lanes),
                                build.CreateVectorSplat(unsigned(shape_.width), left), "threads");
  }
  group_start_ = build.CreateUnreachable();  // until make_turns
  make_turns();

  build.SetInsertPoint(latch_);
  llvm::Value* following = build.CreateAdd(group_, build.getInt32(1), "", true, true);
  group->addIncoming(following, latch_);
  llvm::BasicBlock* over = has_barriers() ? block("round_over") : end;
  build.CreateCondBr(build.CreateICmpULT(following, build.getInt32(shape_.count())), groups, over);
  if (has_barriers()) {
    build.SetInsertPoint(over);
    llvm::Value* next = build.CreateLoad(word, next_);
    build.CreateStore(next, state_);
    build.CreateStore(build.CreateLoad(word, sum_), last_sum_);
    build.CreateCondBr(build.CreateIsNull(next), end, round);
  }
  build.SetInsertPoint(end);
  build.CreateRetVoid();
}

// A group's turn: from its state to where it returns or arrives at a barrier.
void Driver::make_turns() {
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  };
  llvm::IRBuilder<> build(group_start_);
  llvm::Type* word = build.getInt32Ty();
  if (!has_barriers()) {
    llvm::Instruction* jump = build.CreateBr(body_);
    group_start_->eraseFromParent();
    group_start_ = jump;
    build.SetInsertPoint(returned_);
    build.CreateBr(latch_);
    return;
  }
  llvm::Value* flag = build.CreateGEP(build.getInt8Ty(), frame_, build.CreateZExt(group_, build.getInt64Ty()));
  llvm::BasicBlock* dispatch = block("dispatch");
  llvm::Instruction* jump =
      build.CreateCondBr(build.CreateIsNull(build.CreateLoad(build.getInt8Ty(), flag)), dispatch, latch_);
  group_start_->eraseFromParent();
  group_start_ = jump;
  build.SetInsertPoint(dispatch);
  dispatch_ = build.CreateSwitch(build.CreateLoad(word, state_), body_);
  build.SetInsertPoint(returned_);
  build.CreateStore(build.getInt8(1), flag);
  build.CreateBr(latch_);
  arrival_ = block("arrival");
  build.SetInsertPoint(arrival_);
  arrived_state_ = build.CreatePHI(word, 2), arrived_count_ = build.CreatePHI(word, 2);
  build.CreateStore(build.CreateAdd(build.CreateLoad(word, sum_), arrived_count_), sum_);
  // Groups before this one, if they are at any barrier, must be at the same.
  llvm::Value* before = build.CreateLoad(word, next_);
  llvm::Value* same = build.CreateOr(build.CreateIsNull(before), build.CreateICmpEQ(before, arrived_state_));
  build.CreateStore(arrived_state_, next_);
  llvm::BasicBlock* apart = block("apart");
  build.CreateCondBr(same, latch_, apart);
  build.SetInsertPoint(apart);
  const llvm::FunctionCallee fail = function_->getParent()->getOrInsertFunction(
      "trine_simt_assert_fail", build.getVoidTy(), build.getPtrTy(), build.getPtrTy(), word, build.getPtrTy());
  llvm::Value* where = build.CreateGlobalString("");
  build.CreateCall(fail, {build.CreateGlobalString("barrier: threads of a block wait at different ones"), where,
                          build.getInt32(0), where});
  build.CreateUnreachable();
}

llvm::BasicBlock* Driver::resume(int state) {
  llvm::BasicBlock* block = llvm::BasicBlock::Create(function_->getContext(), "behind_barrier", function_);
  dispatch_->addCase(llvm::ConstantInt::get(llvm::Type::getInt32Ty(function_->getContext()), uint64_t(state)), block);
  return block;
}

void Driver::arrive(llvm::IRBuilder<>& build, int state, llvm::Value* count) {
  arrived_state_->addIncoming(build.getInt32(uint32_t(state)), build.GetInsertBlock());
  arrived_count_->addIncoming(count, build.GetInsertBlock());
  build.CreateBr(arrival_);
}

llvm::Value* Driver::counted(llvm::IRBuilder<>& build) { return build.CreateLoad(build.getInt32Ty(), last_sum_); }

uint32_t Driver::new_slot(uint32_t bytes) {
  const uint32_t offset = frame_bytes_;
  frame_bytes_ = round_up(uint64_t{frame_bytes_} + uint64_t{bytes} * shape_.count(), kFrameAlign);
  return offset;
}

llvm::Value* Driver::slot_address(llvm::IRBuilder<>& build, uint32_t offset, uint32_t bytes) {
  llvm::Value* place = build.CreateMul(build.CreateZExt(group_, build.getInt64Ty()), build.getInt64(bytes));
  return build.CreateGEP(build.getInt8Ty(), frame_, build.CreateAdd(place, build.getInt64(offset)));
}

// A barrier that no lane reaches leaves a block without predecessors, and phis of none.
void Driver::finish() {
  if (!arrival_ || !llvm::pred_empty(arrival_)) return;
  for (llvm::PHINode* phi : {arrived_state_, arrived_count_}) {
    phi->replaceAllUsesWith(llvm::PoisonValue::get(phi->getType()));
    phi->eraseFromParent();
  }
}

}  // namespace trine::simt::lanes
