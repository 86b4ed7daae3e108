// What a call in a prepared kernel is to the vectoriser.
#pragma once

#include <cstdint>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace trine::simt::lanes {

enum class CallKind : uint8_t {
  thread_index,    // tid.x, .y, .z
  lane_index,      // laneid
  block_register,  // ctaid, nctaid, ntid, warpsize, ...
  barrier,         // of the block
  fence,
  nothing,  // lifetime, assume, hints
  warp_sync,
  active_mask,
  vote,
  match,
  shuffle,
  reduce,   // redux.sync
  pure,     // an intrinsic that has a form on vectors
  runtime,  // a function of the runtime marked L, or of mathematics: called for one lane at a time
  unknown
};

CallKind classify(const llvm::CallInst& call);
bool is_warp_operation(CallKind kind);    // needs a group to be a warp
int thread_axis(llvm::Intrinsic::ID id);  // of thread_index: 0, 1, 2

}  // namespace trine::simt::lanes
