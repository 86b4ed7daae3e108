#include "simt/compile/lanes/intrinsics.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace trine::simt::lanes {
namespace {

// Functions of the runtime that may be called for one lane at a time; see run/abi.h.
constexpr llvm::StringLiteral kRuntime[] = {"trine_simt_vprintf", "trine_simt_assert_fail", "trine_simt_trap",
                                            "trine_simt_clock",   "trine_simt_nanoseconds", "trine_simt_malloc",
                                            "trine_simt_free",    "trine_simt_wait"};

CallKind classify_intrinsic(llvm::Intrinsic::ID id) {
  using namespace llvm;
  switch (id) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z: return CallKind::thread_index;
    case Intrinsic::nvvm_read_ptx_sreg_laneid: return CallKind::lane_index;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    case Intrinsic::nvvm_read_ptx_sreg_warpid:
    case Intrinsic::nvvm_read_ptx_sreg_dynamic_smem_size: return CallKind::block_register;
    case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    case Intrinsic::nvvm_barrier_cta_sync_all:
    case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
    case Intrinsic::nvvm_barrier_cta_red_and_all:
    case Intrinsic::nvvm_barrier_cta_red_or_all:
    case Intrinsic::nvvm_barrier_cta_red_popc_all: return CallKind::barrier;
    case Intrinsic::nvvm_membar_cta:
    case Intrinsic::nvvm_membar_gl:
    case Intrinsic::nvvm_membar_sys:
    case Intrinsic::nvvm_fence_sc_cluster: return CallKind::fence;
    case Intrinsic::assume:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::sideeffect:
    case Intrinsic::prefetch:
    case Intrinsic::nvvm_nanosleep: return CallKind::nothing;
    case Intrinsic::nvvm_bar_warp_sync: return CallKind::warp_sync;
    case Intrinsic::nvvm_activemask: return CallKind::active_mask;
    case Intrinsic::nvvm_vote_all_sync:
    case Intrinsic::nvvm_vote_any_sync:
    case Intrinsic::nvvm_vote_uni_sync:
    case Intrinsic::nvvm_vote_ballot_sync: return CallKind::vote;
    case Intrinsic::nvvm_match_any_sync_i32:
    case Intrinsic::nvvm_match_any_sync_i64:
    case Intrinsic::nvvm_match_all_sync_i32p:
    case Intrinsic::nvvm_match_all_sync_i64p: return CallKind::match;
    case Intrinsic::nvvm_shfl_sync_up_i32:
    case Intrinsic::nvvm_shfl_sync_down_i32:
    case Intrinsic::nvvm_shfl_sync_bfly_i32:
    case Intrinsic::nvvm_shfl_sync_idx_i32:
    case Intrinsic::nvvm_shfl_sync_up_f32:
    case Intrinsic::nvvm_shfl_sync_down_f32:
    case Intrinsic::nvvm_shfl_sync_bfly_f32:
    case Intrinsic::nvvm_shfl_sync_idx_f32:
    case Intrinsic::nvvm_shfl_sync_up_i32p:
    case Intrinsic::nvvm_shfl_sync_down_i32p:
    case Intrinsic::nvvm_shfl_sync_bfly_i32p:
    case Intrinsic::nvvm_shfl_sync_idx_i32p: return CallKind::shuffle;
    case Intrinsic::nvvm_redux_sync_add:
    case Intrinsic::nvvm_redux_sync_and:
    case Intrinsic::nvvm_redux_sync_or:
    case Intrinsic::nvvm_redux_sync_xor:
    case Intrinsic::nvvm_redux_sync_min:
    case Intrinsic::nvvm_redux_sync_max:
    case Intrinsic::nvvm_redux_sync_umin:
    case Intrinsic::nvvm_redux_sync_umax: return CallKind::reduce;
    case Intrinsic::sadd_with_overflow:
    case Intrinsic::uadd_with_overflow:
    case Intrinsic::ssub_with_overflow:
    case Intrinsic::usub_with_overflow:
    case Intrinsic::smul_with_overflow:
    case Intrinsic::umul_with_overflow: return CallKind::pure;
    default: return isTriviallyVectorizable(id) ? CallKind::pure : CallKind::unknown;
  }
}

}  // namespace

CallKind classify(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return CallKind::unknown;
  if (callee->isIntrinsic()) return classify_intrinsic(callee->getIntrinsicID());
  return llvm::is_contained(kRuntime, callee->getName()) ? CallKind::runtime : CallKind::unknown;
}

bool is_warp_operation(CallKind kind) { return kind >= CallKind::warp_sync && kind <= CallKind::reduce; }

int thread_axis(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y: return 1;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z: return 2;
    default: return 0;
  }
}

}  // namespace trine::simt::lanes
