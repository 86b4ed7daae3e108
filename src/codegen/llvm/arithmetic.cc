#include "codegen/llvm/arithmetic.h"

#include "codegen/llvm/math_builder.h"
#include "codegen/math.h"
#include "codegen/scalar_math.h"
#include "codegen/scalar_types.h"

namespace trine::codegen {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

bool is_float_type(DType t) { return t == DType::f32 || t == DType::f64; }

}  // namespace

Value* Arithmetic::constant(DType type, uint64_t bits) {
  auto* t = ir_.scalar_type(type);
  if (type == DType::f32) return b_.CreateBitCast(b_.getInt32(static_cast<uint32_t>(bits)), t);
  if (type == DType::f64) return b_.CreateBitCast(b_.getInt64(bits), t);
  const unsigned width = t->getIntegerBitWidth();
  return llvm::ConstantInt::get(t, width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
}

Value* Arithmetic::select(Value* m, Value* x, Value* y) {
  const unsigned n = std::max({Ir::lanes(m), Ir::lanes(x), Ir::lanes(y)});
  return b_.CreateSelect(m, ir_.splat(x, n), ir_.splat(y, n));
}

Value* Arithmetic::unary(ScalarOp op, DType type, Value* a) {
  if (is_table_op(op, type)) return call_table(op, type, a, nullptr);
  if (is_float_type(type)) return unary_float(op, type, a);
  if (type == DType::boolean) return b_.CreateNot(a);
  return unary_integer(op, type, a);
}

Value* Arithmetic::unary_float(ScalarOp op, DType type, Value* a) {
  auto* t = a->getType();
  MathBuilder m(ir_, t);
  auto zero = [&] { return ir_.number(t, 0); };
  switch (op) {
    case ScalarOp::neg: return b_.CreateFNeg(a);
    case ScalarOp::abs: return ir_.call(llvm::Intrinsic::fabs, a);
    case ScalarOp::sign:
      return b_.CreateSelect(b_.CreateFCmpOGT(a, zero()), ir_.number(t, 1),
                             b_.CreateSelect(b_.CreateFCmpOLT(a, zero()), ir_.number(t, -1), a));
    case ScalarOp::sqrt: return ir_.call(llvm::Intrinsic::sqrt, a);
    case ScalarOp::reciprocal: return b_.CreateFDiv(ir_.number(t, 1), a);
    case ScalarOp::floor: return ir_.call(llvm::Intrinsic::floor, a);
    case ScalarOp::ceil: return ir_.call(llvm::Intrinsic::ceil, a);
    case ScalarOp::round: return ir_.call(llvm::Intrinsic::roundeven, a);
    case ScalarOp::trunc: return ir_.call(llvm::Intrinsic::trunc, a);
    case ScalarOp::is_nan: return b_.CreateFCmpUNO(a, a);
    case ScalarOp::is_inf:
      return b_.CreateFCmpOEQ(ir_.call(llvm::Intrinsic::fabs, a), llvm::ConstantFP::getInfinity(t));
    case ScalarOp::exp: return math::exp(m, a);
    case ScalarOp::log: return math::log(m, a);
    case ScalarOp::tanh: return math::tanh(m, a);
    case ScalarOp::erf: return math::erf(m, a);
    default: throw CannotRender{"an operation on floats"};
  }
}

Value* Arithmetic::unary_integer(ScalarOp op, DType type, Value* a) {
  auto* t = a->getType();
  auto* zero = ir_.integer(t, 0);
  const bool is_signed = !is_unsigned_compute(type);
  switch (op) {
    case ScalarOp::neg: return b_.CreateSub(zero, a);
    case ScalarOp::abs: return is_signed ? b_.CreateSelect(b_.CreateICmpSLT(a, zero), b_.CreateSub(zero, a), a) : a;
    case ScalarOp::sign: {
      auto* positive = is_signed ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero);
      auto* rest = is_signed ? b_.CreateSelect(b_.CreateICmpSLT(a, zero), ir_.integer(t, -1), a) : a;
      return b_.CreateSelect(positive, ir_.integer(t, 1), rest);
    }
    case ScalarOp::bit_not: return b_.CreateNot(a);
    default: throw CannotRender{"an operation on integers"};
  }
}

Value* Arithmetic::binary(ScalarOp op, DType type, Value* x, Value* y) {
  ir_.match(x, y);
  if (is_table_op(op, type)) return call_table(op, type, x, y);
  if (type == DType::boolean) return binary_boolean(op, x, y);
  if (op >= ScalarOp::less && op <= ScalarOp::equal) return compare(op, type, x, y);
  if (op == ScalarOp::min || op == ScalarOp::max) return extreme(op == ScalarOp::min, type, x, y);
  if (!is_float_type(type)) return binary_integer(op, type, x, y);
  switch (op) {
    case ScalarOp::add: return b_.CreateFAdd(x, y);
    case ScalarOp::sub: return b_.CreateFSub(x, y);
    case ScalarOp::mul: return b_.CreateFMul(x, y);
    case ScalarOp::div: return b_.CreateFDiv(x, y);
    default: throw CannotRender{"an operation on two floats"};
  }
}

Value* Arithmetic::binary_boolean(ScalarOp op, Value* x, Value* y) {
  switch (op) {
    case ScalarOp::logical_and:
    case ScalarOp::bit_and:
    case ScalarOp::min: return b_.CreateAnd(x, y);
    case ScalarOp::logical_or:
    case ScalarOp::bit_or:
    case ScalarOp::max: return b_.CreateOr(x, y);
    case ScalarOp::logical_xor:
    case ScalarOp::bit_xor: return b_.CreateXor(x, y);
    case ScalarOp::equal: return b_.CreateNot(b_.CreateXor(x, y));
    default: throw CannotRender{"an operation on booleans"};
  }
}

Value* Arithmetic::compare(ScalarOp op, DType type, Value* x, Value* y) {
  using P = llvm::CmpInst::Predicate;
  if (is_float_type(type)) {
    const P p = op == ScalarOp::less ? P::FCMP_OLT : op == ScalarOp::less_equal ? P::FCMP_OLE : P::FCMP_OEQ;
    return b_.CreateFCmp(p, x, y);
  }
  const bool u = is_unsigned_compute(type);
  const P less = u ? P::ICMP_ULT : P::ICMP_SLT, less_equal = u ? P::ICMP_ULE : P::ICMP_SLE;
  return b_.CreateICmp(op == ScalarOp::less ? less : op == ScalarOp::less_equal ? less_equal : P::ICMP_EQ, x, y);
}

Value* Arithmetic::extreme(bool smaller, DType type, Value* x, Value* y) {
  auto* first = smaller ? compare(ScalarOp::less, type, x, y) : compare(ScalarOp::less, type, y, x);
  auto* result = b_.CreateSelect(first, x, y);
  return is_float_type(type) ? b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, result) : result;
}

Value* Arithmetic::binary_integer(ScalarOp op, DType type, Value* x, Value* y) {
  switch (op) {
    case ScalarOp::add: return b_.CreateAdd(x, y);
    case ScalarOp::sub: return b_.CreateSub(x, y);
    case ScalarOp::mul: return b_.CreateMul(x, y);
    case ScalarOp::bit_and: return b_.CreateAnd(x, y);
    case ScalarOp::bit_or: return b_.CreateOr(x, y);
    case ScalarOp::bit_xor: return b_.CreateXor(x, y);
    case ScalarOp::div:
    case ScalarOp::mod:
    case ScalarOp::fmod: return divide(op, type, x, y);
    case ScalarOp::shift_left:
    case ScalarOp::shift_right: return shift(op, type, x, y);
    default: throw CannotRender{"an operation on two integers"};
  }
}

// x / 0 = x mod 0 = 0; the most negative number over -1 wraps.
Value* Arithmetic::divide(ScalarOp op, DType type, Value* x, Value* y) {
  auto* t = x->getType();
  auto *zero = ir_.integer(t, 0), *one = ir_.integer(t, 1);
  auto* by_zero = b_.CreateICmpEQ(y, zero);
  if (is_unsigned_compute(type)) {
    auto* d = b_.CreateSelect(by_zero, one, y);
    return b_.CreateSelect(by_zero, zero, op == ScalarOp::div ? b_.CreateUDiv(x, d) : b_.CreateURem(x, d));
  }
  auto* by_minus = b_.CreateICmpEQ(y, ir_.integer(t, -1));
  auto* d = b_.CreateSelect(b_.CreateOr(by_zero, by_minus), one, y);
  if (op == ScalarOp::div) {
    auto* q = b_.CreateSelect(by_minus, b_.CreateSub(zero, x), b_.CreateSDiv(x, d));
    return b_.CreateSelect(by_zero, zero, q);
  }
  auto* r = b_.CreateSRem(x, d);  // 0 for d = 1, as it must be for 0 and -1
  if (op == ScalarOp::fmod) return r;
  auto* differs = b_.CreateICmpSLT(b_.CreateXor(r, y), zero);
  return b_.CreateSelect(b_.CreateAnd(b_.CreateICmpNE(r, zero), differs), b_.CreateAdd(r, y), r);
}

Value* Arithmetic::shift(ScalarOp op, DType type, Value* x, Value* y) {
  auto* t = x->getType();
  auto *zero = ir_.integer(t, 0), *width = ir_.integer(t, t->getScalarSizeInBits());
  auto* inside = b_.CreateICmpULT(y, width);
  auto* by = b_.CreateSelect(inside, y, zero);
  if (op == ScalarOp::shift_left) return b_.CreateSelect(inside, b_.CreateShl(x, by), zero);
  if (is_unsigned_compute(type)) return b_.CreateSelect(inside, b_.CreateLShr(x, by), zero);
  auto* last = ir_.integer(t, t->getScalarSizeInBits() - 1);
  return b_.CreateAShr(x, b_.CreateSelect(inside, y, last));
}

// Lanes go through memory, one call each.
Value* Arithmetic::call_table(ScalarOp op, DType type, Value* x, Value* y) {
  auto *element = ir_.scalar_type(type), *wide = b_.getDoubleTy();
  auto* slot = b_.CreateGEP(b_.getPtrTy(), math_, ir_.i64(static_cast<int64_t>(op)));
  auto* function = b_.CreateLoad(b_.getPtrTy(), slot);
  auto* signature =
      y ? llvm::FunctionType::get(wide, {wide, wide}, false) : llvm::FunctionType::get(wide, {wide}, false);
  auto one = [&](Value* a, Value* b) -> Value* {
    std::vector<Value*> args{b_.CreateFPExt(a, wide)};
    if (b) args.push_back(b_.CreateFPExt(b, wide));
    return b_.CreateFPTrunc(b_.CreateCall(signature, function, args), element);
  };
  if (!Ir::is_vector(x)) return one(x, y);
  auto *in = ir_.local(x->getType()), *in2 = y ? ir_.local(y->getType()) : nullptr, *out = ir_.local(x->getType());
  b_.CreateStore(x, in);
  if (y) b_.CreateStore(y, in2);
  ir_.loop(ir_.i64(0), ir_.i64(Ir::lanes(x)), 1, [&](Value* i) {
    auto read = [&](Value* from) { return b_.CreateLoad(element, b_.CreateGEP(element, from, i)); };
    b_.CreateStore(one(read(in), y ? read(in2) : nullptr), b_.CreateGEP(element, out, i));
  });
  return b_.CreateLoad(x->getType(), out);
}

Value* Arithmetic::join(Reduce fold, DType type, Value* acc, Value* x) {
  switch (fold) {
    case Reduce::sum: return binary(ScalarOp::add, type, acc, x);
    case Reduce::prod: return binary(ScalarOp::mul, type, acc, x);
    case Reduce::min: return binary(ScalarOp::min, type, acc, x);
    case Reduce::max: return binary(ScalarOp::max, type, acc, x);
    case Reduce::any: return binary(ScalarOp::logical_or, type, acc, x);
    case Reduce::all: return binary(ScalarOp::logical_and, type, acc, x);
  }
  return acc;
}

Value* Arithmetic::identity(Reduce fold, DType type) {
  auto* t = ir_.scalar_type(type);
  const bool is_float = is_float_type(type), lowest = fold == Reduce::max;
  switch (fold) {
    case Reduce::sum:
    case Reduce::any: return llvm::Constant::getNullValue(t);
    case Reduce::prod: return is_float ? llvm::ConstantFP::get(t, 1) : llvm::ConstantInt::get(t, 1);
    case Reduce::all: return b_.getTrue();
    default: break;
  }
  if (type == DType::boolean) return b_.getInt1(!lowest);
  if (is_float) return llvm::ConstantFP::getInfinity(t, lowest);
  const unsigned bits = t->getIntegerBitWidth();
  const bool u = is_unsigned_compute(type);
  if (lowest)
    return llvm::ConstantInt::get(t, u ? llvm::APInt::getMinValue(bits) : llvm::APInt::getSignedMinValue(bits));
  return llvm::ConstantInt::get(t, u ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits));
}

Value* Arithmetic::join_lanes(Reduce fold, DType type, Value* acc) {
  for (int width = static_cast<int>(Ir::lanes(acc)) / 2; width > 0; width /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < width; ++i) {
      low.push_back(i);
      high.push_back(i + width);
    }
    acc = join(fold, type, b_.CreateShuffleVector(acc, low), b_.CreateShuffleVector(acc, high));
  }
  return b_.CreateExtractElement(acc, uint64_t{0});
}

}  // namespace trine::codegen
