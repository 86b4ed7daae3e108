// The builder of codegen/math.h over LLVM values.
#pragma once

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/ir.h"

namespace trine::codegen {

class MathBuilder {
 public:
  using F = llvm::Value*;
  using I = llvm::Value*;
  using M = llvm::Value*;

  MathBuilder(Ir& ir, llvm::Type* type) : ir_(ir), b_(ir.b), type_(type), int_(Ir::shaped(b_.getInt32Ty(), type)) {}

  F num(float x) { return llvm::ConstantFP::get(type_, static_cast<double>(x)); }
  I inum(int32_t x) { return ir_.integer(int_, x); }
  F add(F a, F b) { return b_.CreateFAdd(a, b); }
  F sub(F a, F b) { return b_.CreateFSub(a, b); }
  F mul(F a, F b) { return b_.CreateFMul(a, b); }
  F div(F a, F b) { return b_.CreateFDiv(a, b); }
  F fma(F a, F b, F c) {
    if (!ir_.target.has_fma()) return add(mul(a, b), c);
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
  }
  F rint(F a) { return ir_.call(llvm::Intrinsic::roundeven, a); }
  I to_int(F a) { return b_.CreateFPToSI(a, int_); }
  F to_float(I a) { return b_.CreateSIToFP(a, type_); }
  I bits(F a) { return b_.CreateBitCast(a, int_); }
  F from_bits(I a) { return b_.CreateBitCast(a, type_); }
  I iadd(I a, I b) { return b_.CreateAdd(a, b); }
  I isub(I a, I b) { return b_.CreateSub(a, b); }
  I sra(I a, int n) { return b_.CreateAShr(a, inum(n)); }
  I shl(I a, int n) { return b_.CreateShl(a, inum(n)); }
  M less(F a, F b) { return b_.CreateFCmpOLT(a, b); }
  M equal(F a, F b) { return b_.CreateFCmpOEQ(a, b); }
  F select(M m, F a, F b) { return b_.CreateSelect(m, a, b); }

  F scale(F p, F n) {
    if (ir_.target.level == Target::Level::avx512 && Ir::lanes(p) % 16 == 0) return scale_by_instruction(p, n);
    I i = to_freeze(n), half = sra(i, 1);
    F first = from_bits(shl(iadd(half, inum(127)), 23)), second = from_bits(shl(iadd(isub(i, half), inum(127)), 23));
    return mul(mul(p, first), second);
  }

 private:
  // The conversion of a NaN is poison to LLVM; any number will do, the product is NaN anyway.
  I to_freeze(F n) { return b_.CreateFreeze(to_int(n)); }

  F scale_by_instruction(F p, F n) {
    const unsigned lanes = Ir::lanes(p);
    auto* piece = llvm::FixedVectorType::get(b_.getFloatTy(), 16);
    F result = llvm::PoisonValue::get(type_);
    for (unsigned at = 0; at < lanes; at += 16) {
      F scaled = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                    {b_.CreateExtractVector(piece, p, at), b_.CreateExtractVector(piece, n, at),
                                     llvm::ConstantAggregateZero::get(piece), b_.getInt16(0xffff), b_.getInt32(4)});
      result = lanes == 16 ? scaled : b_.CreateInsertVector(type_, result, scaled, at);
    }
    return result;
  }

  Ir& ir_;
  llvm::IRBuilder<>& b_;
  llvm::Type *type_, *int_;
};

}  // namespace trine::codegen
