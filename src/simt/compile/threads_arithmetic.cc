// Arithmetic of nvptx that LLVM knows by other names, in round-to-nearest; copies that are asynchronous there are done
// when they are asked for.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "simt/compile/threads_lower.h"

namespace trine::simt {
namespace {

using llvm::Value;
namespace Id = llvm::Intrinsic;

// The same function under LLVM's name.
Id::ID same_as(Id::ID id) {
  switch (id) {
    case Id::nvvm_fma_rn_f:
    case Id::nvvm_fma_rn_ftz_f:
    case Id::nvvm_fma_rn_d:
    case Id::nvvm_fma_rn_f16:
    case Id::nvvm_fma_rn_f16x2: return Id::fma;
    case Id::nvvm_sqrt_f:
    case Id::nvvm_sqrt_rn_f:
    case Id::nvvm_sqrt_rn_ftz_f:
    case Id::nvvm_sqrt_rn_d:
    case Id::nvvm_sqrt_approx_f:
    case Id::nvvm_sqrt_approx_ftz_f: return Id::sqrt;
    case Id::nvvm_fabs:
    case Id::nvvm_fabs_ftz: return Id::fabs;
    case Id::nvvm_floor_f:
    case Id::nvvm_floor_ftz_f:
    case Id::nvvm_floor_d: return Id::floor;
    case Id::nvvm_ceil_f:
    case Id::nvvm_ceil_ftz_f:
    case Id::nvvm_ceil_d: return Id::ceil;
    case Id::nvvm_trunc_f:
    case Id::nvvm_trunc_ftz_f:
    case Id::nvvm_trunc_d: return Id::trunc;
    case Id::nvvm_round_f:
    case Id::nvvm_round_ftz_f:
    case Id::nvvm_round_d: return Id::roundeven;
    case Id::nvvm_fmin_f:
    case Id::nvvm_fmin_ftz_f:
    case Id::nvvm_fmin_d:
    case Id::nvvm_fmin_f16:
    case Id::nvvm_fmin_f16x2: return Id::minnum;
    case Id::nvvm_fmax_f:
    case Id::nvvm_fmax_ftz_f:
    case Id::nvvm_fmax_d:
    case Id::nvvm_fmax_f16:
    case Id::nvvm_fmax_f16x2: return Id::maxnum;
    case Id::nvvm_fmin_nan_f:
    case Id::nvvm_fmin_nan_f16:
    case Id::nvvm_fmin_nan_f16x2: return Id::minimum;
    case Id::nvvm_fmax_nan_f:
    case Id::nvvm_fmax_nan_f16:
    case Id::nvvm_fmax_nan_f16x2: return Id::maximum;
    case Id::nvvm_ex2_approx:
    case Id::nvvm_ex2_approx_ftz: return Id::exp2;
    case Id::nvvm_lg2_approx_f:
    case Id::nvvm_lg2_approx_ftz_f:
    case Id::nvvm_lg2_approx_d: return Id::log2;
    case Id::nvvm_sin_approx_f:
    case Id::nvvm_sin_approx_ftz_f: return Id::sin;
    case Id::nvvm_cos_approx_f:
    case Id::nvvm_cos_approx_ftz_f: return Id::cos;
    default: return Id::not_intrinsic;
  }
}

Value* quotient(Lowering& lower, Id::ID id) {
  llvm::IRBuilder<>& build = lower.build;
  const auto one = [&] { return llvm::ConstantFP::get(lower.type(), 1.0); };
  switch (id) {
    case Id::nvvm_div_rn_f:
    case Id::nvvm_div_rn_ftz_f:
    case Id::nvvm_div_rn_d:
    case Id::nvvm_div_approx_f:
    case Id::nvvm_div_approx_ftz_f:
    case Id::nvvm_div_full:
    case Id::nvvm_div_full_ftz: return build.CreateFDiv(lower.argument(0), lower.argument(1));
    case Id::nvvm_rcp_rn_f:
    case Id::nvvm_rcp_rn_ftz_f:
    case Id::nvvm_rcp_rn_d:
    case Id::nvvm_rcp_approx_ftz_f:
    case Id::nvvm_rcp_approx_ftz_d: return build.CreateFDiv(one(), lower.argument(0));
    case Id::nvvm_rsqrt_approx_f:
    case Id::nvvm_rsqrt_approx_ftz_f:
    case Id::nvvm_rsqrt_approx_d:
    case Id::nvvm_rsqrt_approx_ftz_d:
      return build.CreateFDiv(one(), build.CreateUnaryIntrinsic(Id::sqrt, lower.argument(0)));
    default: return nullptr;
  }
}

// New instructions carry no permission to be contracted.
Value* exact(Lowering& lower, Id::ID id) {
  llvm::IRBuilder<>& build = lower.build;
  switch (id) {
    case Id::nvvm_add_rn_f:
    case Id::nvvm_add_rn_ftz_f:
    case Id::nvvm_add_rn_d: return build.CreateFAdd(lower.argument(0), lower.argument(1));
    case Id::nvvm_mul_rn_f:
    case Id::nvvm_mul_rn_ftz_f:
    case Id::nvvm_mul_rn_d: return build.CreateFMul(lower.argument(0), lower.argument(1));
    case Id::nvvm_saturate_f:
    case Id::nvvm_saturate_ftz_f:
    case Id::nvvm_saturate_d: {
      llvm::Type* type = lower.type();
      Value* above = build.CreateMaxNum(lower.argument(0), llvm::ConstantFP::get(type, 0.0));  // NaN becomes 0
      return build.CreateMinNum(above, llvm::ConstantFP::get(type, 1.0));
    }
    default: return nullptr;
  }
}

Value* high_half(Lowering& lower, bool is_signed) {
  llvm::IRBuilder<>& build = lower.build;
  const unsigned bits = lower.type()->getIntegerBitWidth();
  llvm::Type* wide = build.getIntNTy(2 * bits);
  const auto extend = [&](unsigned i) { return build.CreateIntCast(lower.argument(i), wide, is_signed); };
  return build.CreateTrunc(build.CreateLShr(build.CreateMul(extend(0), extend(1)), bits), lower.type());
}

Value* integers(Lowering& lower, Id::ID id) {
  llvm::IRBuilder<>& build = lower.build;
  switch (id) {
    case Id::nvvm_mulhi_s:
    case Id::nvvm_mulhi_i:
    case Id::nvvm_mulhi_ll: return high_half(lower, true);
    case Id::nvvm_mulhi_us:
    case Id::nvvm_mulhi_ui:
    case Id::nvvm_mulhi_ull: return high_half(lower, false);
    case Id::nvvm_d2i_lo:
      return build.CreateTrunc(build.CreateBitCast(lower.argument(0), build.getInt64Ty()), lower.type());
    case Id::nvvm_d2i_hi:
      return build.CreateTrunc(build.CreateLShr(build.CreateBitCast(lower.argument(0), build.getInt64Ty()), 32),
                               lower.type());
    case Id::nvvm_lohi_i2d: {
      Value* low = build.CreateZExt(lower.argument(0), build.getInt64Ty());
      Value* high = build.CreateShl(build.CreateZExt(lower.argument(1), build.getInt64Ty()), 32);
      return build.CreateBitCast(build.CreateOr(low, high), lower.type());
    }
    default: return nullptr;
  }
}

// __nvvm_reflect("__CUDA_ARCH"): what the code is compiled for; every other property is off.
Value* reflect(Lowering& lower, Id::ID id) {
  if (id != Id::nvvm_reflect) return nullptr;
  auto* text = llvm::dyn_cast<llvm::GlobalVariable>(lower.argument(0)->stripPointerCasts());
  auto* data =
      text && text->hasInitializer() ? llvm::dyn_cast<llvm::ConstantDataSequential>(text->getInitializer()) : nullptr;
  const bool is_arch = data && data->isCString() && data->getAsCString() == "__CUDA_ARCH";
  return llvm::ConstantInt::get(lower.type(), is_arch ? 800 : 0);
}

bool asynchronous_copy(Lowering& lower, llvm::IntrinsicInst& call) {
  uint64_t bytes = 0;
  switch (call.getIntrinsicID()) {
    case Id::nvvm_cp_async_ca_shared_global_4:
    case Id::nvvm_cp_async_ca_shared_global_4_s: bytes = 4; break;
    case Id::nvvm_cp_async_ca_shared_global_8:
    case Id::nvvm_cp_async_ca_shared_global_8_s: bytes = 8; break;
    case Id::nvvm_cp_async_ca_shared_global_16:
    case Id::nvvm_cp_async_ca_shared_global_16_s:
    case Id::nvvm_cp_async_cg_shared_global_16:
    case Id::nvvm_cp_async_cg_shared_global_16_s: bytes = 16; break;
    case Id::nvvm_cp_async_commit_group:
    case Id::nvvm_cp_async_wait_group:
    case Id::nvvm_cp_async_wait_all: return lower.replace(nullptr);
    default: return false;
  }
  llvm::IRBuilder<>& build = lower.build;
  const llvm::MaybeAlign align(bytes);
  if (call.arg_size() == 2) {
    build.CreateMemCpy(lower.argument(0), align, lower.argument(1), align, bytes);
    return lower.replace(nullptr);
  }
  // Only so many bytes are read; zeros follow.
  Value* read = build.CreateZExt(lower.argument(2), build.getInt64Ty());
  build.CreateMemSet(lower.argument(0), build.getInt8(0), bytes, align);
  build.CreateMemCpy(lower.argument(0), align, lower.argument(1), align, read);
  return lower.replace(nullptr);
}

}  // namespace

bool lower_arithmetic(Lowering& lower, llvm::IntrinsicInst& call) {
  const Id::ID id = call.getIntrinsicID();
  if (const Id::ID same = same_as(id); same != Id::not_intrinsic) {
    const llvm::SmallVector<Value*> arguments(call.args());
    return lower.replace(lower.build.CreateIntrinsic(same, {lower.type()}, arguments));
  }
  if (asynchronous_copy(lower, call)) return true;
  Value* value = quotient(lower, id);
  if (!value) value = exact(lower, id);
  if (!value) value = integers(lower, id);
  if (!value) value = reflect(lower, id);
  return value && lower.replace(value);
}

}  // namespace trine::simt
