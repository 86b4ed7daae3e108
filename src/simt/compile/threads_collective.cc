// Barriers, shuffles, votes, matches and reductions: calls of the runtime.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "simt/compile/threads_lower.h"
#include "simt/run/abi.h"

namespace trine::simt {
namespace {

using llvm::Value;
namespace Id = llvm::Intrinsic;

constexpr int kNone = -1;

// Where the operands of a barrier stand among the arguments.
struct BarrierRow {
  Id::ID id;
  BarrierKind kind;
  int name, threads, predicate;
};
constexpr BarrierRow kBarriers[] = {
    {Id::nvvm_barrier_cta_sync_aligned_all, BarrierKind::plain, 0, kNone, kNone},
    {Id::nvvm_barrier_cta_sync_all, BarrierKind::plain, 0, kNone, kNone},
    {Id::nvvm_barrier_cta_sync_aligned_count, BarrierKind::plain, 0, 1, kNone},
    {Id::nvvm_barrier_cta_sync_count, BarrierKind::plain, 0, 1, kNone},
    {Id::nvvm_barrier_cta_red_and_aligned_all, BarrierKind::all_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_and_all, BarrierKind::all_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_and_aligned_count, BarrierKind::all_true, 0, 1, 2},
    {Id::nvvm_barrier_cta_red_and_count, BarrierKind::all_true, 0, 1, 2},
    {Id::nvvm_barrier_cta_red_or_aligned_all, BarrierKind::any_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_or_all, BarrierKind::any_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_or_aligned_count, BarrierKind::any_true, 0, 1, 2},
    {Id::nvvm_barrier_cta_red_or_count, BarrierKind::any_true, 0, 1, 2},
    {Id::nvvm_barrier_cta_red_popc_aligned_all, BarrierKind::count_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_popc_all, BarrierKind::count_true, 0, kNone, 1},
    {Id::nvvm_barrier_cta_red_popc_aligned_count, BarrierKind::count_true, 0, 1, 2},
    {Id::nvvm_barrier_cta_red_popc_count, BarrierKind::count_true, 0, 1, 2},
};

Value* number(Lowering& lower, int value) { return lower.build.getInt32(static_cast<uint32_t>(value)); }

Value* as_word(Lowering& lower, Value* value) { return lower.build.CreateZExtOrTrunc(value, lower.build.getInt32Ty()); }

// A word as what the intrinsic returns: i1, i32 or float.
Value* as_result(Lowering& lower, Value* word, llvm::Type* type) {
  if (type->isIntegerTy(1)) return lower.build.CreateICmpNE(word, number(lower, 0));
  return lower.build.CreateBitCast(word, type);
}

bool barrier(Lowering& lower, Id::ID id) {
  for (const BarrierRow& row : kBarriers) {
    if (row.id != id) continue;
    const auto operand = [&](int at) {
      return at == kNone ? number(lower, 0) : as_word(lower, lower.argument(static_cast<unsigned>(at)));
    };
    lower.note_place();
    Value* result = lower.runtime(
        "trine_simt_barrier", lower.build.getInt32Ty(),
        {number(lower, static_cast<int>(row.kind)), operand(row.name), operand(row.threads), operand(row.predicate)});
    return lower.replace(lower.type()->isVoidTy() ? nullptr : as_result(lower, result, lower.type()));
  }
  return false;
}

bool arrive(Lowering& lower, Id::ID id) {
  if (id != Id::nvvm_barrier_cta_arrive_aligned_count && id != Id::nvvm_barrier_cta_arrive_count) return false;
  lower.note_place();
  return lower.replace(
      lower.runtime("trine_simt_barrier_arrive", lower.build.getVoidTy(), {lower.argument(0), lower.argument(1)}));
}

bool fence(Lowering& lower, Id::ID id) {
  using enum llvm::AtomicOrdering;
  switch (id) {
    case Id::nvvm_membar_cta:
      return lower.replace(lower.build.CreateFence(SequentiallyConsistent, block_scope(lower.build.getContext())));
    case Id::nvvm_membar_gl:
    case Id::nvvm_membar_sys:
    case Id::nvvm_fence_proxy_alias:
    case Id::nvvm_fence_proxy_async:
    case Id::nvvm_fence_proxy_async_global:
    case Id::nvvm_fence_proxy_async_shared_cta: return lower.replace(lower.build.CreateFence(SequentiallyConsistent));
    default: return false;
  }
}

struct ShuffleRow {
  Id::ID id;
  ShuffleKind kind;
  bool has_flag;
};
constexpr ShuffleRow kShuffles[] = {
    {Id::nvvm_shfl_sync_up_i32, ShuffleKind::up, false},
    {Id::nvvm_shfl_sync_up_f32, ShuffleKind::up, false},
    {Id::nvvm_shfl_sync_up_i32p, ShuffleKind::up, true},
    {Id::nvvm_shfl_sync_up_f32p, ShuffleKind::up, true},
    {Id::nvvm_shfl_sync_down_i32, ShuffleKind::down, false},
    {Id::nvvm_shfl_sync_down_f32, ShuffleKind::down, false},
    {Id::nvvm_shfl_sync_down_i32p, ShuffleKind::down, true},
    {Id::nvvm_shfl_sync_down_f32p, ShuffleKind::down, true},
    {Id::nvvm_shfl_sync_bfly_i32, ShuffleKind::butterfly, false},
    {Id::nvvm_shfl_sync_bfly_f32, ShuffleKind::butterfly, false},
    {Id::nvvm_shfl_sync_bfly_i32p, ShuffleKind::butterfly, true},
    {Id::nvvm_shfl_sync_bfly_f32p, ShuffleKind::butterfly, true},
    {Id::nvvm_shfl_sync_idx_i32, ShuffleKind::index, false},
    {Id::nvvm_shfl_sync_idx_f32, ShuffleKind::index, false},
    {Id::nvvm_shfl_sync_idx_i32p, ShuffleKind::index, true},
    {Id::nvvm_shfl_sync_idx_f32p, ShuffleKind::index, true},
};

// Memory for what a function of the runtime returns beside its value.
llvm::AllocaInst* flag_slot(Lowering& lower) {
  llvm::BasicBlock& entry = lower.build.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> first(&entry, entry.begin());
  return first.CreateAlloca(first.getInt32Ty());
}

// {value, flag}, as intrinsics with a predicate return.
Value* pair(Lowering& lower, Value* value, llvm::AllocaInst* flag) {
  auto* type = llvm::cast<llvm::StructType>(lower.type());
  Value* first = as_result(lower, value, type->getElementType(0));
  Value* second = as_result(lower, lower.build.CreateLoad(lower.build.getInt32Ty(), flag), type->getElementType(1));
  Value* both = lower.build.CreateInsertValue(llvm::PoisonValue::get(type), first, 0);
  return lower.build.CreateInsertValue(both, second, 1);
}

bool shuffle(Lowering& lower, Id::ID id) {
  for (const ShuffleRow& row : kShuffles) {
    if (row.id != id) continue;
    Value* value = lower.build.CreateBitCast(lower.argument(1), lower.build.getInt32Ty());
    llvm::AllocaInst* flag = row.has_flag ? flag_slot(lower) : nullptr;
    Value* to = flag ? static_cast<Value*>(flag) : llvm::ConstantPointerNull::get(lower.build.getPtrTy());
    lower.note_place();
    Value* result = lower.runtime("trine_simt_shuffle", lower.build.getInt32Ty(),
                                  {number(lower, static_cast<int>(row.kind)), lower.argument(0), value,
                                   lower.argument(2), lower.argument(3), to});
    return lower.replace(flag ? pair(lower, result, flag) : as_result(lower, result, lower.type()));
  }
  return false;
}

struct VoteRow {
  Id::ID id;
  VoteKind kind;
};
constexpr VoteRow kVotes[] = {{Id::nvvm_vote_all_sync, VoteKind::all},
                              {Id::nvvm_vote_any_sync, VoteKind::any},
                              {Id::nvvm_vote_uni_sync, VoteKind::unified},
                              {Id::nvvm_vote_ballot_sync, VoteKind::ballot}};

bool vote(Lowering& lower, Id::ID id) {
  for (const VoteRow& row : kVotes) {
    if (row.id != id) continue;
    lower.note_place();
    Value* result = lower.runtime(
        "trine_simt_vote", lower.build.getInt32Ty(),
        {number(lower, static_cast<int>(row.kind)), lower.argument(0), as_word(lower, lower.argument(1))});
    return lower.replace(as_result(lower, result, lower.type()));
  }
  return false;
}

bool match(Lowering& lower, Id::ID id) {
  const bool any = id == Id::nvvm_match_any_sync_i32 || id == Id::nvvm_match_any_sync_i64;
  const bool all = id == Id::nvvm_match_all_sync_i32p || id == Id::nvvm_match_all_sync_i64p;
  if (!any && !all) return false;
  llvm::AllocaInst* flag = flag_slot(lower);
  Value* value = lower.build.CreateZExt(lower.argument(1), lower.build.getInt64Ty());
  const auto kind = any ? MatchKind::any : MatchKind::all;
  lower.note_place();
  Value* result = lower.runtime("trine_simt_match", lower.build.getInt32Ty(),
                                {number(lower, static_cast<int>(kind)), lower.argument(0), value, flag});
  return lower.replace(any ? result : pair(lower, result, flag));
}

struct ReduceRow {
  Id::ID id;
  ReduceKind kind;
};
constexpr ReduceRow kReductions[] = {
    {Id::nvvm_redux_sync_add, ReduceKind::add},           {Id::nvvm_redux_sync_min, ReduceKind::min_signed},
    {Id::nvvm_redux_sync_max, ReduceKind::max_signed},    {Id::nvvm_redux_sync_umin, ReduceKind::min_unsigned},
    {Id::nvvm_redux_sync_umax, ReduceKind::max_unsigned}, {Id::nvvm_redux_sync_and, ReduceKind::bit_and},
    {Id::nvvm_redux_sync_or, ReduceKind::bit_or},         {Id::nvvm_redux_sync_xor, ReduceKind::bit_xor}};

bool reduce(Lowering& lower, Id::ID id) {
  for (const ReduceRow& row : kReductions) {
    if (row.id != id) continue;
    lower.note_place();
    return lower.replace(
        lower.runtime("trine_simt_reduce", lower.build.getInt32Ty(),
                      {number(lower, static_cast<int>(row.kind)), lower.argument(1), lower.argument(0)}));
  }
  return false;
}

bool warp_state(Lowering& lower, Id::ID id) {
  if (id != Id::nvvm_bar_warp_sync && id != Id::nvvm_activemask) return false;
  lower.note_place();
  if (id == Id::nvvm_activemask)
    return lower.replace(lower.runtime("trine_simt_active_mask", lower.build.getInt32Ty(), {}));
  return lower.replace(lower.runtime("trine_simt_warp_sync", lower.build.getVoidTy(), {lower.argument(0)}));
}

}  // namespace

bool lower_collective(Lowering& lower, llvm::IntrinsicInst& call) {
  const Id::ID id = call.getIntrinsicID();
  return barrier(lower, id) || arrive(lower, id) || fence(lower, id) || shuffle(lower, id) || vote(lower, id) ||
         match(lower, id) || reduce(lower, id) || warp_state(lower, id);
}

}  // namespace trine::simt
