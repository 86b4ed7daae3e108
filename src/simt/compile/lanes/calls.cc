// Calls: who a thread is, intrinsics with a form on vectors, functions of the runtime.
#include <algorithm>
#include <cstddef>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "simt/compile/lanes/widen.h"
#include "simt/run/abi.h"

namespace trine::simt::lanes {

void Widener::call(llvm::CallInst& call) {
  switch (classify(call)) {
    case CallKind::thread_index:
    case CallKind::lane_index: return define(call, thread_index(call));
    case CallKind::block_register: return define(call, block_register(call));
    case CallKind::barrier:  // done at the start of its block
    case CallKind::nothing: return;
    case CallKind::warp_sync: return;  // lanes of a warp run in step
    case CallKind::fence: {            // threads of a block share a worker, which sees what it wrote
      const bool of_block = call.getIntrinsicID() == llvm::Intrinsic::nvvm_membar_cta;
      build_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent,
                         of_block ? llvm::SyncScope::SingleThread : llvm::SyncScope::System);
      return;
    }
    case CallKind::active_mask: return define(call, build_.CreateZExt(bits(mask_), call.getType()));
    case CallKind::vote: return define(call, vote(call));
    case CallKind::match: return define(call, match(call));
    case CallKind::shuffle: return define(call, shuffle(call));
    case CallKind::reduce: return define(call, reduce(call));
    case CallKind::pure: return define(call, pure(call, varying(&call)));
    case CallKind::runtime: return runtime(call);
    case CallKind::unknown: refuse("a call of " + call.getCalledOperand()->getName().str());
  }
}

llvm::Value* Widener::pure(llvm::CallInst& call, bool is_wide) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::Type* result = is_wide ? wide(call.getType()) : flat(call.getType());
  llvm::SmallVector<llvm::Value*> arguments;
  llvm::SmallVector<llvm::Type*> overloads;
  const bool vectorizable = llvm::isTriviallyVectorizable(id);
  if (vectorizable && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr)) overloads.push_back(result);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    const bool scalar = !is_wide || (vectorizable && llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr));
    if (scalar && varying(argument)) refuse("an intrinsic whose operand must be uniform");
    arguments.push_back(scalar ? base(argument) : vector(argument));
    if (vectorizable && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, int(i), nullptr))
      overloads.push_back(arguments.back()->getType());
  }
  if (!vectorizable) overloads.push_back(arguments[0]->getType());  // with.overflow
  llvm::CallInst* made = build_.CreateIntrinsic(id, overloads, arguments);
  if (llvm::isa<llvm::FPMathOperator>(call) && llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
  return made;
}

// Where threadIdx.x is not a base and the lane, the coordinates come from the linear index.
llvm::Value* Widener::thread_index(llvm::CallInst& call) {
  llvm::Value* first = driver_.first_thread();
  if (classify(call) == CallKind::lane_index) return build_.CreateAnd(first, build_.getInt32(31));
  const int axis = thread_axis(call.getIntrinsicID());
  const compute::Dim3& block = group_.block;
  if (group_.one_row()) return axis == 0 ? first : build_.getInt32(0);
  llvm::Value* linear = first;
  if (!group_.along_x()) linear = build_.CreateAdd(splat(first), lanes_times(first->getType(), 1));
  const auto number = [&](uint32_t value) { return llvm::ConstantInt::get(linear->getType(), value); };
  if (axis == 0) return build_.CreateURem(linear, number(block.x));
  if (axis == 1) return build_.CreateURem(build_.CreateUDiv(linear, number(block.x)), number(block.y));
  return build_.CreateUDiv(linear, number(block.x * block.y));
}

llvm::Value* Widener::block_register(llvm::CallInst& call) {
  using namespace llvm;
  constexpr size_t kIndex = offsetof(BlockState, block_index), kGrid = offsetof(BlockState, grid_dim);
  switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x: return driver_.block_word(kIndex);
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y: return driver_.block_word(kIndex + 4);
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z: return driver_.block_word(kIndex + 8);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: return driver_.block_word(kGrid);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: return driver_.block_word(kGrid + 4);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return driver_.block_word(kGrid + 8);
    case Intrinsic::nvvm_read_ptx_sreg_warpid: return build_.CreateLShr(driver_.first_thread(), 5);
    default: return driver_.block_word(offsetof(BlockState, dynamic_shared_bytes));
  }
}

void Widener::runtime(llvm::CallInst& call) {
  llvm::SmallVector<llvm::Value*> kept;
  llvm::SmallVector<llvm::Type*> types;
  // assert's fifth argument, the size of a character, is not the runtime's.
  const unsigned count = std::min(call.arg_size(), 4u);
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    kept.push_back(spread(argument));
    types.push_back(flat(argument->getType()));
  }
  const llvm::FunctionCallee set_lane =
      kernel_.getParent()->getOrInsertFunction("trine_simt_set_lane", build_.getVoidTy(), build_.getInt32Ty());
  llvm::Type* result = flat(call.getType());
  llvm::Function* callee = call.getCalledFunction();
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::Value* all = each_lane(call.use_empty() ? build_.getVoidTy() : result, [&](llvm::Value* lane) -> llvm::Value* {
    llvm::SmallVector<llvm::Value*> one;
    for (unsigned i = 0; i < count; ++i) one.push_back(lane_of(kept[i], call.getArgOperand(i), lane));
    build_.CreateCall(set_lane,
                      {build_.CreateAdd(driver_.first_thread(), build_.CreateTrunc(lane, build_.getInt32Ty()))});
    return build_.CreateCall(type, callee, one);
  });
  if (all) define(call, all);
}

}  // namespace trine::simt::lanes
