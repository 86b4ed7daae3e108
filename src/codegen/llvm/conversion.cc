// Casts, and the way between memory and compute types.
#include <cmath>

#include "codegen/llvm/arithmetic.h"
#include "codegen/scalar_types.h"

namespace trine::codegen {

using llvm::Value;

llvm::Type* Arithmetic::memory_type(DType memory) {
  if (memory == DType::boolean) return b_.getInt8Ty();
  if (is_compute_type(memory)) return ir_.scalar_type(memory);
  if (memory == DType::f16) return b_.getHalfTy();
  return b_.getIntNTy(8 * static_cast<unsigned>(byte_size(memory)));
}

Value* Arithmetic::from_memory(Value* m, DType memory) {
  auto as = [&](llvm::Type* element) { return Ir::shaped(element, m->getType()); };
  if (memory == DType::boolean) return b_.CreateICmpNE(m, ir_.integer(m->getType(), 0));
  if (is_compute_type(memory)) return m;
  if (is_integer(memory)) {
    auto* t = as(b_.getInt32Ty());
    return is_signed_integer(memory) ? b_.CreateSExt(m, t) : b_.CreateZExt(m, t);
  }
  if (memory == DType::f16 && ir_.target.has_f16()) return b_.CreateFPExt(m, as(b_.getFloatTy()));
  if (memory != DType::bf16) throw CannotRender{"memory of type " + std::string(name(memory))};
  auto* wide = b_.CreateShl(b_.CreateZExt(m, as(b_.getInt32Ty())), uint64_t{16});
  return b_.CreateBitCast(wide, as(b_.getFloatTy()));
}

Value* Arithmetic::to_memory(Value* v, DType memory) {
  auto as = [&](llvm::Type* element) { return Ir::shaped(element, v->getType()); };
  if (memory == DType::boolean) return b_.CreateZExt(v, as(b_.getInt8Ty()));
  if (is_compute_type(memory)) return v;
  if (is_integer(memory)) return b_.CreateTrunc(v, as(memory_type(memory)));
  if (memory == DType::f16 && ir_.target.has_f16()) return b_.CreateFPTrunc(v, as(b_.getHalfTy()));
  if (memory != DType::bf16) throw CannotRender{"memory of type " + std::string(name(memory))};
  auto* bits = b_.CreateBitCast(v, as(b_.getInt32Ty()));
  auto* top = b_.CreateLShr(bits, uint64_t{16});
  auto* odd = b_.CreateAnd(top, uint64_t{1});
  auto* sum = b_.CreateAdd(b_.CreateAdd(bits, ir_.integer(bits->getType(), 0x7fff)), odd);
  auto* nan = b_.CreateOr(top, uint64_t{0x40});
  auto* rounded = b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, b_.CreateLShr(sum, uint64_t{16}));
  return b_.CreateTrunc(rounded, as(b_.getInt16Ty()));
}

// Rounds or wraps to a storage type, staying in the compute type.
Value* Arithmetic::to_storage(Value* v, DType storage) {
  if (is_compute_type(storage)) return v;
  if (!is_integer(storage) || byte_size(storage) > 1) return from_memory(to_memory(v, storage), storage);
  const bool tiny = storage == DType::i4 || storage == DType::u4,
             tiniest = storage == DType::i2 || storage == DType::u2;
  const uint64_t drop = tiniest ? 30 : tiny ? 28 : 24;
  auto* high = b_.CreateShl(v, drop);
  return is_signed_integer(storage) ? b_.CreateAShr(high, drop) : b_.CreateLShr(high, drop);
}

// Truncates and saturates to the storage type's range; NaN becomes 0. (LLVM's saturating conversion is taken apart into
// lanes on x86, hence by hand.)
Value* Arithmetic::to_integer(Value* a, DType to, DType storage) {
  auto* f = a->getType();
  auto* t = Ir::shaped(ir_.scalar_type(to), f);
  const bool narrow = !is_compute_type(storage), is_unsigned = is_unsigned_compute(to);
  const int bits = static_cast<int>(t->getScalarSizeInBits());
  const double low = narrow ? static_cast<double>(integer_min(storage)) : is_unsigned ? 0 : -std::ldexp(1, bits - 1);
  Value* x = b_.CreateSelect(b_.CreateFCmpUNO(a, a), ir_.number(f, 0), a);
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, ir_.number(f, low)), ir_.number(f, low), x);
  auto convert = [&](Value* v) { return is_unsigned ? b_.CreateFPToUI(v, t) : b_.CreateFPToSI(v, t); };
  if (narrow) {
    auto* high = ir_.number(f, static_cast<double>(integer_max(storage)));
    return convert(b_.CreateSelect(b_.CreateFCmpOGT(x, high), high, x));
  }
  auto* big = b_.CreateFCmpOGE(x, ir_.number(f, std::ldexp(1, is_unsigned ? bits : bits - 1)));
  auto* most = llvm::ConstantInt::get(t, is_unsigned ? llvm::APInt::getMaxValue(static_cast<unsigned>(bits))
                                                     : llvm::APInt::getSignedMaxValue(static_cast<unsigned>(bits)));
  return b_.CreateSelect(big, most, convert(b_.CreateSelect(big, ir_.number(f, 0), x)));
}

Value* Arithmetic::cast(Value* a, DType from, DType storage) {
  const DType to = compute_type(storage);
  auto* t = Ir::shaped(ir_.scalar_type(to), a->getType());
  const bool from_float = from == DType::f32 || from == DType::f64, to_float = to == DType::f32 || to == DType::f64;
  if (to == DType::boolean) {
    if (from == DType::boolean) return a;
    if (from_float) return b_.CreateFCmpUNE(a, ir_.number(a->getType(), 0));
    return b_.CreateICmpNE(a, ir_.integer(a->getType(), 0));
  }
  if (from == DType::boolean) return to_float ? b_.CreateUIToFP(a, t) : b_.CreateZExt(a, t);
  if (from_float && !to_float) return to_storage(to_integer(a, to, storage), storage);
  Value* v = a;
  if (from_float) v = b_.CreateFPCast(a, t);
  else if (to_float) v = is_unsigned_compute(from) ? b_.CreateUIToFP(a, t) : b_.CreateSIToFP(a, t);
  else v = is_unsigned_compute(from) ? b_.CreateZExtOrTrunc(a, t) : b_.CreateSExtOrTrunc(a, t);
  return to_storage(v, storage);
}

}  // namespace trine::codegen
