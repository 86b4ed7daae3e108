// Who a thread is, what time it is, and in which memory an address lies.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstddef>

#include "simt/compile/threads_lower.h"
#include "simt/run/abi.h"

namespace trine::simt {
namespace {

using llvm::Value;
namespace Id = llvm::Intrinsic;

constexpr uint64_t kWord = sizeof(uint32_t);

Value* ceil_div_32(llvm::IRBuilder<>& build, Value* threads) {
  return build.CreateLShr(build.CreateAdd(threads, build.getInt32(31)), 5);
}

Value* block_threads(Lowering& lower) {
  constexpr uint64_t at = offsetof(BlockState, block_dim);
  Value* plane = lower.build.CreateMul(lower.block_word(at), lower.block_word(at + kWord));
  return lower.build.CreateMul(plane, lower.block_word(at + 2 * kWord));
}

Value* index_of(Lowering& lower, Id::ID id) {
  switch (id) {
    case Id::nvvm_read_ptx_sreg_tid_x: return lower.thread_word(offsetof(ThreadState, thread_index));
    case Id::nvvm_read_ptx_sreg_tid_y: return lower.thread_word(offsetof(ThreadState, thread_index) + kWord);
    case Id::nvvm_read_ptx_sreg_tid_z: return lower.thread_word(offsetof(ThreadState, thread_index) + 2 * kWord);
    case Id::nvvm_read_ptx_sreg_ctaid_x: return lower.block_word(offsetof(BlockState, block_index));
    case Id::nvvm_read_ptx_sreg_ctaid_y: return lower.block_word(offsetof(BlockState, block_index) + kWord);
    case Id::nvvm_read_ptx_sreg_ctaid_z: return lower.block_word(offsetof(BlockState, block_index) + 2 * kWord);
    case Id::nvvm_read_ptx_sreg_ntid_x: return lower.block_word(offsetof(BlockState, block_dim));
    case Id::nvvm_read_ptx_sreg_ntid_y: return lower.block_word(offsetof(BlockState, block_dim) + kWord);
    case Id::nvvm_read_ptx_sreg_ntid_z: return lower.block_word(offsetof(BlockState, block_dim) + 2 * kWord);
    case Id::nvvm_read_ptx_sreg_nctaid_x: return lower.block_word(offsetof(BlockState, grid_dim));
    case Id::nvvm_read_ptx_sreg_nctaid_y: return lower.block_word(offsetof(BlockState, grid_dim) + kWord);
    case Id::nvvm_read_ptx_sreg_nctaid_z: return lower.block_word(offsetof(BlockState, grid_dim) + 2 * kWord);
    case Id::nvvm_read_ptx_sreg_dynamic_smem_size: return lower.block_word(offsetof(BlockState, dynamic_shared_bytes));
    default: return nullptr;
  }
}

Value* lane_register(Lowering& lower, Id::ID id) {
  llvm::IRBuilder<>& build = lower.build;
  const auto one = [&] { return build.CreateShl(build.getInt32(1), lower.lane()); };
  const auto up_to = [&] { return build.CreateSub(build.CreateShl(one(), 1), build.getInt32(1)); };
  switch (id) {
    case Id::nvvm_read_ptx_sreg_laneid: return lower.lane();
    case Id::nvvm_read_ptx_sreg_warpsize: return build.getInt32(32);
    case Id::nvvm_read_ptx_sreg_warpid: return build.CreateLShr(lower.thread_word(offsetof(ThreadState, linear)), 5);
    case Id::nvvm_read_ptx_sreg_nwarpid: return ceil_div_32(build, block_threads(lower));
    case Id::nvvm_read_ptx_sreg_lanemask_eq: return one();
    case Id::nvvm_read_ptx_sreg_lanemask_lt: return build.CreateSub(one(), build.getInt32(1));
    case Id::nvvm_read_ptx_sreg_lanemask_le: return up_to();
    case Id::nvvm_read_ptx_sreg_lanemask_gt: return build.CreateNot(up_to());
    case Id::nvvm_read_ptx_sreg_lanemask_ge: return build.CreateNot(build.CreateSub(one(), build.getInt32(1)));
    // One multiprocessor, which runs one grid.
    case Id::nvvm_read_ptx_sreg_smid: return build.getInt32(0);
    case Id::nvvm_read_ptx_sreg_nsmid: return build.getInt32(1);
    case Id::nvvm_read_ptx_sreg_gridid: return llvm::ConstantInt::get(lower.type(), 1);
    default: return nullptr;
  }
}

Value* time_register(Lowering& lower, Id::ID id) {
  llvm::IRBuilder<>& build = lower.build;
  const char* name = nullptr;
  switch (id) {
    case Id::nvvm_read_ptx_sreg_clock:
    case Id::nvvm_read_ptx_sreg_clock64:
    case Id::readcyclecounter: name = "trine_simt_clock"; break;
    case Id::nvvm_read_ptx_sreg_globaltimer:
    case Id::nvvm_read_ptx_sreg_globaltimer_lo: name = "trine_simt_nanoseconds"; break;
    default: return nullptr;
  }
  return build.CreateTrunc(lower.runtime(name, build.getInt64Ty(), {}), lower.type());
}

Value* in_shared(Lowering& lower) {
  llvm::IRBuilder<>& build = lower.build;
  llvm::Module& module = *build.GetInsertBlock()->getModule();
  Value* offset = build.CreateSub(build.CreatePtrToInt(lower.argument(0), build.getInt64Ty()),
                                  build.CreatePtrToInt(lower.shared(), build.getInt64Ty()));
  Value* dynamic = build.CreateZExt(lower.block_word(offsetof(BlockState, dynamic_shared_bytes)), build.getInt64Ty());
  return build.CreateICmpULT(offset, build.CreateAdd(dynamic, build.getInt64(static_shared_bytes(module))));
}

Value* in_local(Lowering& lower) {
  Value* answer = lower.runtime("trine_simt_is_local", lower.build.getInt32Ty(), {lower.argument(0)});
  return lower.build.CreateICmpNE(answer, lower.build.getInt32(0));
}

Value* address_space(Lowering& lower, Id::ID id) {
  switch (id) {
    case Id::nvvm_isspacep_shared: return in_shared(lower);
    case Id::nvvm_isspacep_local: return in_local(lower);
    case Id::nvvm_isspacep_const: return lower.build.getFalse();
    case Id::nvvm_isspacep_global:
      return lower.build.CreateNot(lower.build.CreateOr(in_shared(lower), in_local(lower)));
    default: return nullptr;
  }
}

// What ends a thread, or lets others run; none has a result.
bool control(Lowering& lower, Id::ID id) {
  const auto call = [&](const char* name) {
    lower.note_place();
    return lower.replace(lower.runtime(name, lower.build.getVoidTy(), {}));
  };
  switch (id) {
    case Id::trap: return call("trine_simt_trap");
    case Id::nvvm_exit: return call("trine_simt_exit");
    case Id::nvvm_nanosleep: return call("trine_simt_yield");
    case Id::debugtrap:
    case Id::nvvm_pm_event_mask: return lower.replace(nullptr);
    default: return false;
  }
}

}  // namespace

bool lower_identity(Lowering& lower, llvm::IntrinsicInst& call) {
  const Id::ID id = call.getIntrinsicID();
  if (control(lower, id)) return true;
  Value* value = index_of(lower, id);
  if (!value) value = lane_register(lower, id);
  if (!value) value = time_register(lower, id);
  if (!value) value = address_space(lower, id);
  return value && lower.replace(value);
}

}  // namespace trine::simt
