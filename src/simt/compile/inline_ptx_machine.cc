// Registers of the machine, barriers, shuffles and fences: the intrinsics that the compiler has for them.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "simt/compile/inline_ptx.h"

namespace trine::simt {
namespace {

using llvm::Value;
namespace Id = llvm::Intrinsic;

struct RegisterRow {
  const char* name;
  Id::ID id;
};
constexpr RegisterRow kRegisters[] = {
    {"%laneid", Id::nvvm_read_ptx_sreg_laneid},
    {"%warpid", Id::nvvm_read_ptx_sreg_warpid},
    {"%nwarpid", Id::nvvm_read_ptx_sreg_nwarpid},
    {"%lanemask_eq", Id::nvvm_read_ptx_sreg_lanemask_eq},
    {"%lanemask_lt", Id::nvvm_read_ptx_sreg_lanemask_lt},
    {"%lanemask_le", Id::nvvm_read_ptx_sreg_lanemask_le},
    {"%lanemask_gt", Id::nvvm_read_ptx_sreg_lanemask_gt},
    {"%lanemask_ge", Id::nvvm_read_ptx_sreg_lanemask_ge},
    {"%smid", Id::nvvm_read_ptx_sreg_smid},
    {"%nsmid", Id::nvvm_read_ptx_sreg_nsmid},
    {"%tid.x", Id::nvvm_read_ptx_sreg_tid_x},
    {"%tid.y", Id::nvvm_read_ptx_sreg_tid_y},
    {"%tid.z", Id::nvvm_read_ptx_sreg_tid_z},
    {"%ntid.x", Id::nvvm_read_ptx_sreg_ntid_x},
    {"%ntid.y", Id::nvvm_read_ptx_sreg_ntid_y},
    {"%ntid.z", Id::nvvm_read_ptx_sreg_ntid_z},
    {"%ctaid.x", Id::nvvm_read_ptx_sreg_ctaid_x},
    {"%ctaid.y", Id::nvvm_read_ptx_sreg_ctaid_y},
    {"%ctaid.z", Id::nvvm_read_ptx_sreg_ctaid_z},
    {"%nctaid.x", Id::nvvm_read_ptx_sreg_nctaid_x},
    {"%nctaid.y", Id::nvvm_read_ptx_sreg_nctaid_y},
    {"%nctaid.z", Id::nvvm_read_ptx_sreg_nctaid_z},
    {"%clock", Id::nvvm_read_ptx_sreg_clock},
    {"%clock64", Id::nvvm_read_ptx_sreg_clock64},
    {"%globaltimer", Id::nvvm_read_ptx_sreg_globaltimer},
    {"%dynamic_smem_size", Id::nvvm_read_ptx_sreg_dynamic_smem_size},
};

bool read_register(const PtxStatement& statement) {
  if (!statement.is("mov") || statement.sources.size() != 1 || statement.destinations.size() != 1) return false;
  for (const RegisterRow& row : kRegisters)
    if (statement.sources[0] == row.name) {
      llvm::IRBuilder<> build(statement.call);
      statement.finish(build, {build.CreateIntrinsic(row.id, {})});
      return true;
    }
  return false;
}

bool barrier(const PtxStatement& statement) {
  const bool is_sync =
      (statement.is("bar") || statement.is("barrier")) && statement.has("sync") && !statement.has("warp");
  llvm::IRBuilder<> build(statement.call);
  Value* id = is_sync ? statement.source(0, build.getInt32Ty()) : nullptr;
  if (!id) return false;
  if (statement.sources.size() == 1) {
    build.CreateIntrinsic(Id::nvvm_barrier_cta_sync_all, {id});
  } else {
    Value* threads = statement.source(1, build.getInt32Ty());
    if (!threads) return false;
    build.CreateIntrinsic(Id::nvvm_barrier_cta_sync_count, {id, threads});
  }
  statement.finish(build, {});
  return true;
}

bool shuffle(const PtxStatement& statement) {
  if (!statement.is("shfl") || !statement.has("sync") || statement.sources.size() != 4) return false;
  const Id::ID id = statement.has("up")     ? Id::nvvm_shfl_sync_up_i32
                    : statement.has("down") ? Id::nvvm_shfl_sync_down_i32
                    : statement.has("bfly") ? Id::nvvm_shfl_sync_bfly_i32
                                            : Id::nvvm_shfl_sync_idx_i32;
  llvm::IRBuilder<> build(statement.call);
  std::vector<Value*> s;
  for (size_t i = 0; i < 4; ++i) s.push_back(statement.source(i, build.getInt32Ty()));
  for (const Value* value : s)
    if (!value) return false;
  statement.finish(build, {build.CreateIntrinsic(id, {s[3], s[0], s[1], s[2]})});
  return true;
}

bool control(const PtxStatement& statement) {
  llvm::IRBuilder<> build(statement.call);
  if (!statement.sources.empty()) return false;
  if (statement.is("exit")) build.CreateIntrinsic(Id::nvvm_exit, {});
  else if (statement.is("trap")) build.CreateIntrinsic(Id::trap, {});
  else if (statement.is("membar") || statement.is("fence")) build.CreateIntrinsic(Id::nvvm_membar_sys, {});
  else return false;
  statement.finish(build, {});
  return true;
}

bool active_mask(const PtxStatement& statement) {
  if (!statement.is("activemask") || statement.destinations.size() != 1) return false;
  llvm::IRBuilder<> build(statement.call);
  statement.finish(build, {build.CreateIntrinsic(Id::nvvm_activemask, {})});
  return true;
}

}  // namespace

bool translate_machine(const PtxStatement& statement) {
  return read_register(statement) || barrier(statement) || shuffle(statement) || control(statement) ||
         active_mask(statement);
}

}  // namespace trine::simt
